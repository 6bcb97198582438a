//! The sizes of clusters, and the largest ones with some of their documents.

use super::document::{name, title};
use super::pairs::thousandths;
use crate::dedup::{Cluster, ClusterMember, DedupPage, ShownText, Sizes};
use crate::html::{BarChart, Cell, Tick, beginning, beginning_bytes, table};
use crate::number;

/// The maximum number of bytes shown of the beginning of a document.
const LONGEST_BEGINNING: usize = 280;
/// The maximum number of bytes that the page needs of such a text.
pub const BEGINNING_BYTES: usize = beginning_bytes(LONGEST_BEGINNING);
/// The number of clusters whose documents are shown without a click.
const OPEN: usize = 2;
/// The maximum number of numbers on the axis; with more bins, only powers of ten are numbered.
const MAX_TICKS: usize = 9;

/// The chart of sizes, and the largest clusters; empty if there are no clusters.
pub(super) fn section(page: &DedupPage) -> String {
    if page.sizes.bins().is_empty() {
        return String::new();
    }
    let clusters = page.clusters.iter().enumerate();
    let clusters: String = clusters
        .map(|(place, cluster)| cluster_html(place, cluster))
        .collect();
    format!(
        "{}<h3>Largest clusters</h3>\n<p>{} and some of the others, by their position in the \
         cluster, with the beginnings of their texts.</p>\n{clusters}",
        chart(&page.sizes),
        match page.keeps_a_copy {
            true => "The kept document",
            false => "The first document",
        },
    )
}

fn chart(sizes: &Sizes) -> String {
    let bins = sizes.bins();
    let sum = |side: usize| bins.iter().map(|bin| bin[side]).sum::<u64>();
    let (clusters, documents) = (number::count(sum(0)), number::count(sum(1)));
    let described = format!(
        "{clusters} clusters of two or more documents, with {documents} documents, by their \
         sizes: {}",
        described(bins)
    );
    let chart = BarChart {
        id: "sizes",
        name: "Sizes of clusters",
        description: &described,
        bins,
        has_two_sides: true,
        ticks: &ticks(bins.len()),
        axis: "documents in a cluster, at least",
        threshold: None,
    };
    let header = ["Size", "Clusters", "Documents"].map(str::to_owned);
    let filled = (0..).zip(bins).filter(|(_, counts)| counts[0] > 0);
    let rows = filled.map(|(bin, counts)| {
        let cells = counts.map(|count| Cell::new(number::count(count), None));
        [Cell::new(label(bin), None)]
            .into_iter()
            .chain(cells)
            .collect()
    });
    let numbers = table(
        "Clusters by size",
        &header,
        &rows.collect::<Vec<_>>(),
        false,
    );
    format!(
        "<p>{clusters} clusters with {documents} documents. Each side of the chart has a scale of \
         its own.</p>\n<p class=\"sides\"><span class=\"near\">▲ clusters</span> \
         <span class=\"far\">▼ their documents</span></p>\n\
         <figure class=\"card chart\"><figcaption>Sizes of clusters</figcaption>\n{}\
         <details><summary>Numbers</summary>{numbers}</details></figure>\n",
        chart.svg()
    )
}

fn described(bins: &[[u64; 2]]) -> String {
    let filled = (0..).zip(bins).filter(|(_, counts)| counts[0] > 0);
    let parts =
        filled.map(|(bin, counts)| format!("{} of {}", number::count(counts[0]), label(bin)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The sizes of a bin in words.
fn label(bin: usize) -> String {
    match Sizes::range(bin) {
        (from, to) if from == to => number::count(from),
        (from, to) => format!("{} to {}", number::count(from), number::count(to)),
    }
}

/// The minimum number of sizes of bins.
fn ticks(count: usize) -> Vec<Tick> {
    let is_shown = |bin: &usize| {
        let start = Sizes::range(*bin).0;
        count <= MAX_TICKS || *bin == 0 || start.ilog10() > 0 && start.to_string().starts_with('1')
    };
    let tick = |bin: usize| Tick {
        at: (bin as f64 + 0.5) / count as f64,
        label: short(Sizes::range(bin).0),
        class: "",
    };
    (0..count).filter(is_shown).map(tick).collect()
}

/// A round number with at most four characters.
fn short(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => format!("{}k", number / 1000),
        1_000_000..1_000_000_000 => format!("{}M", number / 1_000_000),
        _ => format!("{}G", number / 1_000_000_000),
    }
}

fn cluster_html(place: usize, cluster: &Cluster) -> String {
    let open = if place < OPEN { " open" } else { "" };
    let first = cluster.members.first();
    let members = cluster.members.iter();
    let members: String = members.map(member_html).collect();
    format!(
        "<details class=\"cluster\"{open}><summary>{} documents <small>{}</small></summary>\n\
         <p><small>{}</small></p>\n{members}</details>\n",
        number::count(cluster.size),
        first.map_or(String::new(), |first| title(&first.document)),
        others(cluster),
    )
}

/// How the other documents of a cluster compare to the first.
fn others(cluster: &Cluster) -> String {
    // Only an index has documents without a place.
    let is_estimated =
        (cluster.members.first()).is_some_and(|first| first.document.place.is_none());
    let kind = if is_estimated { "estimated " } else { "" };
    let near = match cluster.least {
        Some(least) => format!("near (least {kind}similarity {})", thousandths(least)),
        None => "near".to_owned(),
    };
    let parts = [
        (cluster.same_text, "with the same text"),
        (cluster.same_words, "with the same words"),
        (cluster.same_url, "with the same URL as a newer one"),
        (cluster.near, &near),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, what)| format!("{} {what}", number::count(count)));
    format!("Others: {}.", parts.collect::<Vec<_>>().join(", "))
}

fn member_html(member: &ClusterMember) -> String {
    let label = match (member.position, member.is_kept) {
        (1, true) => "kept".to_owned(),
        (position, true) => format!("{}, kept", number::count(position)),
        (position, false) => number::count(position),
    };
    let text = match &member.document.text {
        ShownText::Known(text) => beginning(text, LONGEST_BEGINNING),
        ShownText::Unknown(why) => format!("<span class=\"skipped\">{why}</span>"),
    };
    format!(
        "<section class=\"side\"><h4><span class=\"badge\">{label}</span> {}</h4>\
         <div class=\"text\" dir=\"auto\">{text}</div></section>\n",
        name(&member.document)
    )
}
