// WRONG on purpose: recall that counts a document as often as it came back, so that it passes 1.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, k, options, records, retrieved_ids: ids, expected } = JSON.parse(line);
  if (name !== "R" || records || Object.keys(options).length) {
    console.log(JSON.stringify({ id, skip: true }));
    continue;
  }
  const relevant = Object.values(expected).filter((grade) => grade > 0).length;
  const hits = ids.slice(0, k).filter((doc) => (expected[doc] ?? 0) > 0).length;
  console.log(JSON.stringify({ id, value: relevant ? hits / relevant : 0 }));
}
