package simtool;

import java.io.IOException;
import java.net.URI;
import java.net.http.*;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
/** Asks `simtool serve` about a page and adds it. Threads may share an object. */
public final class Seen {
    private final HttpClient client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
    private final URI address;
    private final String token;

    public Seen(String url, String token) {
        address = URI.create(url + "/v1/seen?add=true"); this.token = token;
    }
    /** Whether the page is a copy of one that was added before under another id. */
    public boolean isCopy(String id, String field, String text) throws IOException, InterruptedException {
        return add(id, field, text).contains("\"kept\":false");    // quotes in texts are escaped
    }
    /** The answer, as JSON; `field` is "text" or "html". */
    public String add(String id, String field, String text) throws IOException, InterruptedException {
        String body = "{\"id\":" + quoted(id) + ",\"" + field + "\":" + quoted(text) + ",\"limit\":1}";
        HttpRequest.Builder request = HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(60))
            .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
        if (token != null) request.header("Authorization", "Bearer " + token);
        for (int attempt = 0; ; attempt++) {
            String problem; long asked = 0;
            try {
                HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
                int status = response.statusCode();
                if (status == 200) return response.body();
                problem = status + " " + response.body();
                if (status < 500 && status != 408 && status != 429) attempt = Integer.MAX_VALUE - 1;
                asked = response.headers().firstValue("Retry-After").map(Long::parseLong).orElse(0L);
            } catch (IOException error) {
                problem = error.toString();
            }
            if (attempt >= 8) throw new IOException("simtool: " + problem);
            long longest = Math.min(500L << attempt, 60_000);
            Thread.sleep(1000 * asked + ThreadLocalRandom.current().nextLong(longest / 2, longest));
        }
    }
    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray())
            if (c < ' ' || c == '"' || c == '\\' || Character.isSurrogate(c)) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        return out.append('"').toString();
    }
}
