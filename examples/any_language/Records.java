// Writes records for `goldrank eval records.jsonl`: one line for each question. With Jackson, serialise a record instead.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

public class Records {
    record Document(String id, double score) {}

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                json.append('\\').append(letter);
            } else if (letter < ' ') {
                json.append(String.format("\\u%04x", (int) letter));
            } else {
                json.append(letter);
            }
        }
        return json.append('"').toString();
    }

    static String line(String id, List<Document> retrieved, List<String> expected) {
        String documents = retrieved.stream()
            .map(document -> "{\"id\":" + quoted(document.id()) + ",\"score\":" + document.score() + "}")
            .collect(Collectors.joining(","));
        String ids = expected.stream().map(Records::quoted).collect(Collectors.joining(","));
        return "{\"id\":" + quoted(id) + ",\"retrieved\":[" + documents + "],\"expected_ids\":[" + ids + "]}";
    }

    public static void main(String[] arguments) throws IOException {
        List<String> lines = List.of(
            line("q1", List.of(new Document("d3", 12.5), new Document("d1", 9.1)), List.of("d1")),
            line("q2", List.of(new Document("d7", 3)), List.of("d2")));
        Files.write(Path.of("records.jsonl"), lines);
    }
}
