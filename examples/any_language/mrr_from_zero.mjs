// WRONG on purpose: the reciprocal rank of a program that counts ranks from 0, and then divides by rank 0.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, k, options, records, retrieved_ids: ids, expected } = JSON.parse(line);
  if (name !== "RR" || records || Object.keys(options).length) {
    console.log(JSON.stringify({ id, skip: true }));
    continue;
  }
  const first = [...new Set(ids)].slice(0, k ?? undefined).findIndex((doc) => (expected[doc] ?? 0) > 0);
  console.log(JSON.stringify({ id, value: first < 0 ? 0 : 1 / first })); // Infinity, which JSON writes as null
}
