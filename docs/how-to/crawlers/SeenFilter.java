package simtool;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.nutch.crawl.*;
import org.apache.nutch.indexer.*;
import org.apache.nutch.parse.Parse;
import org.slf4j.LoggerFactory;

/**
 * Leaves out copies. `plugin.xml` of the plugin has
 *
 * <pre>{@code
 * <extension id="simtool" name="simtool" point="org.apache.nutch.indexer.IndexingFilter">
 *   <implementation id="SeenFilter" class="simtool.SeenFilter"/>
 * </extension>
 * }</pre>
 */
public class SeenFilter implements IndexingFilter {
  private Configuration conf;
  private Seen seen;

  public void setConf(Configuration conf) {
    this.conf = conf;
    seen = new Seen(conf.get("simtool.url", "http://127.0.0.1:8750"), conf.get("simtool.token"));
  }

  public Configuration getConf() {
    return conf;
  }

  public NutchDocument filter(NutchDocument doc, Parse parse, Text url, CrawlDatum datum, Inlinks inlinks) {
    try {
      return seen.isCopy(url.toString(), "text", parse.getText()) ? null : doc;
    } catch (Exception error) {
      LoggerFactory.getLogger(SeenFilter.class).warn("{} is not compared: {}", url, error.getMessage());
      return doc;
    }
  }
}
