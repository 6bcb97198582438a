package simtool;

import java.util.Map;
import org.apache.storm.task.*;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.tuple.*;
import org.apache.stormcrawler.Constants;
import org.apache.stormcrawler.bolt.StatusEmitterBolt;
import org.apache.stormcrawler.persistence.Status;
import org.apache.stormcrawler.util.ConfUtils;
import org.slf4j.LoggerFactory;
/**
 * Sends copies to the status stream as FETCHED, and not to the indexer. In `crawler.flux` of the archetype,
 * change `to: "index"` of the streams from `shunt` and `tika` to `to: "seen"`, and add
 *
 * <pre>
 * bolts:
 *   - {id: "seen", className: "simtool.SeenBolt", parallelism: 8}
 * streams:
 *   - {from: "seen", to: "index", grouping: {type: LOCAL_OR_SHUFFLE}}
 *   - {from: "seen", to: "status", grouping: {type: FIELDS, args: ["url"], streamId: "status"}}
 * </pre>
 */
public class SeenBolt extends StatusEmitterBolt {
    private transient Seen seen;

    public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        super.prepare(conf, context, collector);
        String url = ConfUtils.getString(conf, "simtool.url", "http://127.0.0.1:8750");
        seen = new Seen(url, ConfUtils.getString(conf, "simtool.token"));
    }
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        super.declareOutputFields(declarer);
        declarer.declare(new Fields("url", "content", "metadata", "text"));
    }
    public void execute(Tuple tuple) {
        String url = tuple.getStringByField("url"), text = tuple.getStringByField("text");
        Object content = tuple.getValueByField("content"), metadata = tuple.getValueByField("metadata");
        boolean isCopy = false;
        try {
            isCopy = seen.isCopy(url, "text", text);
        } catch (Exception error) {
            LoggerFactory.getLogger(SeenBolt.class).warn("{} is not compared: {}", url, error.getMessage());
        }
        if (isCopy) collector.emit(Constants.StatusStreamName, tuple, new Values(url, metadata, Status.FETCHED));
        else collector.emit(tuple, new Values(url, content, metadata, text));
        collector.ack(tuple);
    }
}
