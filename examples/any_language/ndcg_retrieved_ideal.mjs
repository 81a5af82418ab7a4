// WRONG on purpose: nDCG whose ideal is the best order of what was retrieved, so that what was missed costs nothing.
import { createInterface } from "node:readline";

const dcg = (gains) => gains.reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, name, k, options, records, retrieved_ids: ids, expected } = JSON.parse(line);
  if (name !== "nDCG" || records || Object.keys(options).length) {
    console.log(JSON.stringify({ id, skip: true }));
    continue;
  }
  const first = [...new Set(ids)].slice(0, k ?? undefined);
  const gains = first.map((doc) => Math.max(expected[doc] ?? 0, 0));
  const ideal = dcg([...gains].sort((a, b) => b - a));
  console.log(JSON.stringify({ id, value: ideal ? dcg(gains) / ideal : 0 }));
}
