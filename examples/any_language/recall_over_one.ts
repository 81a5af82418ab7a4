// WRONG on purpose: recall that counts a document as often as it came back, so that it passes 1.
import { createInterface } from "node:readline";

type Question = { id: string; name: string; k: number | null; options: object; records?: object[]; retrieved_ids: string[]; expected: { [doc: string]: number } };

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as Question;
  if (asked.name !== "R" || asked.records || Object.keys(asked.options).length > 0) {
    console.log(JSON.stringify({ id: asked.id, skip: true }));
    continue;
  }
  const relevant = Object.values(asked.expected).filter((grade) => grade > 0).length;
  const hits = asked.retrieved_ids.slice(0, asked.k ?? undefined).filter((doc) => (asked.expected[doc] ?? 0) > 0).length;
  console.log(JSON.stringify({ id: asked.id, value: relevant > 0 ? hits / relevant : 0 }));
}
