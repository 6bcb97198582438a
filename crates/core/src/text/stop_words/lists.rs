//! Function words of nine languages, in lower case as the tokenizer folds words.
//!
//! Compiled for this project by word class, not copied from another list: articles, pronouns,
//! prepositions, conjunctions, auxiliaries, common adverbs and particles, and the parts of
//! contractions (`don't` is `don` and `t`).

/// The lists, by the ISO 639-1 code of the language.
pub(super) const LISTS: [(&str, &str); 9] = [
    ("en", ENGLISH),
    ("de", GERMAN),
    ("fr", FRENCH),
    ("es", SPANISH),
    ("it", ITALIAN),
    ("pt", PORTUGUESE),
    ("nl", DUTCH),
    ("ru", RUSSIAN),
    ("zh", CHINESE),
];

const ENGLISH: &str = "\
a an the this that these those such each every either neither some any no none all both few many \
much more most other another same own i me my mine myself you your yours yourself he him his \
himself she her hers herself it its itself we us our ours ourselves they them their theirs \
themselves who whom whose which what and or but nor so yet if then than because as while although \
though unless until since when where why how whether of at by for with about against between into \
through during before after above below to from up down in out on off over under again upon within \
without among toward towards am is are was were be been being have has had having do does did \
doing done will would shall should can could may might must ought not only very too also just here \
there now ever never s t d ll m re ve don isn aren wasn weren hasn haven hadn doesn didn won \
wouldn shouldn couldn mustn cannot";

const GERMAN: &str = "\
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines \
dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden jedem alle allem allen \
aller alles ich mich mir du dich dir er ihn ihm sie ihr ihnen es wir uns euch man sich mein meine \
meinen meiner dein deine sein seine seinen seinem seiner ihre ihren ihrem ihrer unser unsere euer \
eure wer wen wem was welcher welche welches und oder aber denn sondern doch weil dass dass wenn ob \
als wie bis bevor nachdem während obwohl damit so auch nur nicht noch schon sehr mehr hier dort da \
dann nun in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur über unter durch für \
gegen ohne um zwischen hinter neben seit wegen bin bist ist sind seid war waren wäre sei gewesen \
habe hast hat haben hatte hatten hätte wird werden wurde wurden worden würde kann können konnte \
muss müssen soll sollen sollte will wollen darf dürfen mag";

const FRENCH: &str = "\
le la les l un une des du de d au aux ce cet cette ces c qui que qu quoi dont où lequel laquelle \
lesquels lesquelles quel quelle quels quelles je j me m moi tu te t toi il elle on se s soi lui \
nous vous ils elles eux leur leurs en y mon ma mes ton ta tes son sa ses notre nos votre vos et ou \
mais donc or ni car si comme quand lorsque puisque parce tandis afin ainsi à dans par pour avec \
sans sous sur vers chez entre avant après pendant depuis contre selon dès jusque jusqu ne n pas \
plus moins point jamais rien aussi très trop peu bien même tout toute tous toutes autre autres \
aucun aucune chaque plusieurs ici là est es suis sommes êtes sont était étaient été être étant sera \
seront serait fut ai as a avons avez ont avait avaient avoir eu aura auront aurait fait faire peut \
peuvent doit doivent";

const SPANISH: &str = "\
el la los las lo un una unos unas al del de a ante bajo con contra desde durante en entre hacia \
hasta para por según sin sobre tras y e o u ni pero sino mas aunque porque pues que si como cuando \
donde mientras quien quienes cual cuales cuyo cuya qué quién cómo cuándo dónde yo me mí tú te ti él \
ella ello se sí le les nos nosotros vosotros os ellos ellas usted ustedes mi mis tu tus su sus \
nuestro nuestra nuestros nuestras este esta esto estos estas ese esa eso esos esas aquel aquella \
aquello otro otra otros otras todo toda todos todas cada algo alguno alguna algunos ninguno mismo \
misma mucho muy más menos también tampoco ya no nunca aquí allí así soy es somos son era eran fue \
fueron ser sido sea siendo estoy está están estaba estaban estar he ha hemos han había habían haber \
hay puede pueden tiene tienen";

const ITALIAN: &str = "\
il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle dell \
al allo alla ai agli alle all dal dallo dalla dai dagli dalle dall nel nello nella nei negli nelle \
nell sul sullo sulla sui sugli sulle sull col e ed o od ma però anche né se perché come quando \
mentre dove che chi cui quale quali quanto io me mi tu te ti lui lei egli ella esso essa si sé noi \
ci voi vi loro essi esse ne mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro vostra \
questo questa questi queste quello quella quelli quelle altro altra altri altre ogni tutto tutta \
tutti tutte stesso stessa molto più meno non già mai qui là così sono sei è siamo siete era erano \
essere stato stata stati state sia fu furono ho hai ha abbiamo avete hanno aveva avevano avere può \
possono deve devono c d";

const PORTUGUESE: &str = "\
o a os as um uma uns umas de do da dos das em no na nos nas num numa a ao à aos às por pelo pela \
pelos pelas para com sem sob sobre entre até desde contra após perante e ou mas nem porém porque \
pois que se como quando enquanto onde embora quem qual quais cujo cuja eu me mim tu te ti ele ela \
você vocês nós vós eles elas lhe lhes se si meu minha meus minhas teu tua seu sua seus suas nosso \
nossa nossos nossas este esta estes estas isto esse essa esses essas isso aquele aquela aqueles \
aquelas aquilo outro outra outros outras todo toda todos todas cada algum alguma alguns nenhum \
mesmo mesma muito mais menos também já não nunca aqui ali assim sou é somos são era eram foi foram \
ser sido seja sendo estou está estão estava estavam estar tenho tem têm tinha tinham ter há havia \
haver pode podem deve";

const DUTCH: &str = "\
de het een der des den dit dat deze die ik mij me mijn jij je jou jouw u uw hij hem zijn zij ze \
haar wij we ons onze jullie hun hen zich men wie wat welke welk waar wanneer hoe waarom en of maar \
want dus noch als dan omdat doordat hoewel terwijl toen zodat indien tenzij in op aan uit bij met \
naar van voor na om over onder door tegen zonder tussen achter naast sinds tot te ter ten binnen \
buiten langs volgens er hier daar nu nog ook al niet geen wel zeer veel meer meest andere ander \
elk elke ieder iedere alle alles iets niets zelf zo ben bent is was waren wees geweest heb hebt \
heeft hebben had hadden gehad word wordt worden werd werden geworden zal zullen zou zouden kan \
kunnen kon konden moet moeten moest mag mogen wil willen wilde doen doet";

const RUSSIAN: &str = "\
и а но или либо да же ли бы не ни что чтобы как так когда если хотя потому поэтому пока где куда \
откуда зачем почему кто чего чему чем кого кому кем который которая которое которые которого \
которой которых которым я меня мне мной ты тебя тебе тобой он его ему им нём она её ее ей ней оно \
мы нас нам нами вы вас вам вами они их ими них себя себе собой мой моя мое моё мои твой твоя свой \
своя свое своё свои своих наш наша наши ваш ваша ваши этот эта это эти этого этой этих этому тот \
та то те того той тех тому такой такая такие весь вся все всё всех сам сама сами в во на с со к ко \
у о об от до за из по под над при для без через про между перед около после кроме был была было \
были быть будет будут есть нет может можно нужно уже ещё еще только лишь даже также тоже здесь тут \
там тогда теперь очень более";

const CHINESE: &str = "\
的 了 着 过 地 得 之 其 是 在 有 和 与 及 或 而 且 但 并 哪 谁 我 你 您 \
他 她 它 这 那 每 各 某 另 不 没 也 都 还 又 再 就 才 只 很 太 更 最 已 \
曾 将 会 能 可 要 把 被 让 使 给 对 从 自 到 向 往 于 以 用 为 由 按 跟 \
同 比 等 吗 呢 吧 啊 呀 嘛 们 个 一 上 下 中 里 时 后 前 所 则 却 若 如 \
即";
