// Writes records for `goldrank eval records.jsonl`: one line for each question.
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;

var options = new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.CamelCase };
var records = new List<GoldRecord>
{
    new("q1", new[] { new Document("d3", 12.5), new Document("d1", 9.1) }, new[] { "d1" }),
    new("q2", new[] { new Document("d7", 3) }, new[] { "d2" }),
};
File.WriteAllLines("records.jsonl", records.Select(record => JsonSerializer.Serialize(record, options)));

record Document(string Id, double Score);
record GoldRecord(string Id, Document[] Retrieved, string[] ExpectedIds);
