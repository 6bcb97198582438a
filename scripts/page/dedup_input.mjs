// Writes the input of scripts/dedup-page-test: dedup_input.mjs DIRECTORY. Generated texts in three
// files with copies and edited copies of several strengths, and texts, ids and URLs that must not act.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const directory = process.argv[2];
const markup = "</script></title><img src=x onerror=\"document.title='taken over'\">" +
  "<script>document.title='taken over'</script><style>*{display:none}</style>\u0000\u001b[2J\u202e";
const words = ("river window engine garden letter bridge market station winter doctor village mirror harbour " +
  "teacher island kitchen forest printer library railway painter orchard lantern museum crosses repairs " +
  "remembers paints follows sells measures opens watches describes keeps visits").split(" ");
const texts_of_other_scripts = [
  "今天天气很好，我们去公园散步。公园里有很多花，也有很多人。孩子们在草地上跑来跑去。",
  "היום מזג האוויר נעים והלכנו לטייל בפארק. יש שם פרחים רבים וגם אנשים רבים. ",
  "كان الطقس جميلا اليوم فذهبنا نتمشى في الحديقة. هناك أزهار كثيرة وأناس كثيرون. ",
  "क\u0302\u0302\u0302\u0302\u0302 z\u0335\u0321\u0322\u031b\u0350\u0351\u0352\u0357a\u0336\u0321l\u0337g\u0338o ",
];

let state = 12345;
const below = (bound) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
};
const sentence = () => `The ${words[below(24)]} ${words[24 + below(12)]} the ${words[below(24)]} number ${below(9999)}.`;
const text = (sentences) => Array.from({ length: sentences }, (_, at) => sentence() + (at % 5 === 4 ? "\n" : " ")).join("");
const edited = (of, share) => of.split(" ").map((word) => (below(1000) < 1000 * share ? `edit${below(99)}` : word)).join(" ");

const documents = [];
const add = (body, url = `https://site-${below(4) ** 3}.example/${documents.length}`) =>
  documents.push({ id: `page-${documents.length}`, url, text: body });
for (let number = 0; number < 240; number += 1) {
  const original = text(20 + below(30));
  add(original);
  for (let copy = below(4); copy > 0; copy -= 1) add(edited(original, [0, 0.002, 0.01, 0.02, 0.05][below(5)]));
}
const template = text(40);
for (let number = 0; number < 60; number += 1) add(`${template} ${sentence()}`, `http://www.template.example/${number}`);
// Enough copies for the largest clusters, and edits for the least similar removals.
for (const other of texts_of_other_scripts) {
  const long = Array.from({ length: 12 }, (_, at) => `${other}${at} `).join("");
  for (let copy = 0; copy < 6; copy += 1) add(`${long} ${sentence()} \u202b${words[copy]}\u2066`);
}
const line = "x".repeat(1 << 20);
for (const body of [`${markup} ${text(30)}${markup}`, `${text(30)}${line}`]) {
  for (let copy = 0; copy < 12; copy += 1) {
    const number = documents.length;
    documents.push({
      id: `${markup}${number}${copy % 2 === 0 ? line : ""}`,
      url: ["javascript:document.title='taken over'", `http://a.example/"${markup}`, "data:text/html,<p>"][number % 3],
      text: `${copy % 3 === 0 ? edited(body, 0.02) : body} ${["", "one more", `<b>bold</b> ${markup}`, "\u202eback"][copy % 4]}`,
    });
  }
}
mkdirSync(directory, { recursive: true });
const names = ["crawl-2024.jsonl", "crawl-2025.jsonl", "a very long name of a file, with <b>markup<b> and \u202espaces.jsonl"];
names.forEach((name, file) => {
  const own = documents.filter((_, number) => (number * number) % 7 % 3 === file);
  const lines = own.map((document) => `${JSON.stringify(document)}\n`).join("");
  writeFileSync(path.join(directory, name), file === 0 ? `${lines}no object\n{"id":"without"}\n` : lines);
});
