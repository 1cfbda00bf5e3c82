import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A step of a pipeline on the JVM: it finds words of two capitals or more. A real program would read JSON by a library;
 * this one needs none, since it only looks for the key "text" of each document.
 */
public final class Capitals {
    private static final Pattern TEXT = Pattern.compile("\\{\"id\":\"(?:[^\"\\\\]|\\\\.)*+\",\"text\":\"((?:[^\"\\\\]|\\\\.)*+)\"");
    private static final Pattern CAPITALS = Pattern.compile("(?<![\\p{L}\\p{N}_])[A-Z]{2,}(?![\\p{L}\\p{N}_-])");

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println("{\"fascicle_step\":1,\"name\":\"capitals\",\"gives\":[\"mentions\"],\"fingerprint\":\"java 1\"}");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            StringBuilder patches = new StringBuilder();
            for (Matcher text = TEXT.matcher(line); text.find(); ) {
                patches.append(patches.length() == 0 ? "" : ",").append(patch(unescaped(text.group(1))));
            }
            out.println("{\"patches\":[" + patches + "]}");
        }
    }

    /** Offsets are code points, and Java counts UTF-16 units. */
    private static String patch(String text) {
        StringBuilder mentions = new StringBuilder();
        for (Matcher found = CAPITALS.matcher(text); found.find(); ) {
            int start = text.codePointCount(0, found.start());
            int end = text.codePointCount(0, found.end());
            mentions.append(mentions.length() == 0 ? "" : ",")
                    .append("{\"spans\":[[" + start + "," + end + "]],\"type\":\"Acronym\",\"source\":\"capitals\"}");
        }
        return "{\"add\":[" + mentions + "]}";
    }

    private static String unescaped(String json) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < json.length(); at++) {
            char sign = json.charAt(at);
            if (sign != '\\') {
                text.append(sign);
                continue;
            }
            char next = json.charAt(++at);
            switch (next) {
                case 'n' -> text.append('\n');
                case 't' -> text.append('\t');
                case 'r' -> text.append('\r');
                case 'b' -> text.append('\b');
                case 'f' -> text.append('\f');
                case 'u' -> {
                    text.append((char) Integer.parseInt(json.substring(at + 1, at + 5), 16));
                    at += 4;
                }
                default -> text.append(next);
            }
        }
        return text.toString();
    }
}
