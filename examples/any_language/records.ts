// Writes records for `goldrank eval records.jsonl`: one line for each question.
import { writeFileSync } from "node:fs";

type Retrieved = { id: string; score?: number; text?: string };
type GoldRecord = { id: string; question?: string; retrieved: Retrieved[]; expectedIds: string[]; latencyMs?: number };

const records: GoldRecord[] = [
  { id: "q1", question: "remove rust?", retrieved: [{ id: "d3", score: 12.5 }, { id: "d1", score: 9.1 }], expectedIds: ["d1"], latencyMs: 12.4 },
  { id: "q2", retrieved: [{ id: "d7", score: 3 }], expectedIds: ["d2"] },
];

writeFileSync("records.jsonl", records.map((record) => JSON.stringify(record) + "\n").join(""));
