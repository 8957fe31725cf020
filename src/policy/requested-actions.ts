/**
 * Finds by their verbs which actions the owner's messages ask for: to send, to operate a page, or only to read. This
 * limits the model that determines the task's intent: nothing is sent to a destination that is named only for reading,
 * whatever that model answers. In an unknown language no action is found, so a person is asked.
 */

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

const SEND_VERBS = wordSet(
  `send tell post write mail email message reply answer respond notify inform share forward invite add remind
  announce report comment text ping ask warn contact
  call upload submit create update file open-issue book schedule greet welcome congratulate thank publish put
  draft pass let give drop deliver transmit assign
  sende schicke sag sage schreibe schreib antworte melde teile informiere benachrichtige erinnere lade leite frage
  envoie envoyez dis écris écrivez réponds répondez préviens partage invite transmets
  envía envia di escribe responde avisa comparte invita reenvía informa`,
)
const READ_VERBS = wordSet(
  `read look check see find search open visit summarize summarise compare list get fetch watch review browse view
  analyse analyze sort count research
  lies lese schau prüfe suche öffne fasse vergleiche lis lisez regarde cherche ouvre résume lee mira busca abre
  resume`,
)
const PAGE_VERBS = wordSet(
  `click press submit tap choose select pick buy order book log sign confirm accept search type fill enter klicke
  drücke clique appuie haz pulsa`,
)
const SEND_VERBS_HAN =
  /发|告诉|告知|通知|回复|答复|回信|写信|写给|转给|分享|邀请|添加|加入|提醒|汇报|报告|评论|联系|问|寄|上传|提交|创建|预约|说一声|留言/u
const READ_VERBS_HAN = /读|看|查|搜|浏览|打开|访问|总结|整理|比较|列出|找/u
const PAGE_VERBS_HAN = /点击|点一下|按|提交|选|登录|搜索|输入|填|确认|下单/u

/** After one of these words follows a noun, not a verb: "a post", "my mail". */
const BEFORE_NOUN = wordSet(
  `a an the my your his her its our their this that these those each every any some no new in of from by as via
  direct following next last der die das ein eine mein meine le la les un une mon ma el los las mi`,
)
/** Pronouns for recipients that an earlier clause names. */
const PRONOUNS = wordSet('them him her there everyone everybody each ihnen ihm leur lui les')
const PRONOUNS_HAN = /他们|她们|他|她|大家|各位/u

const SENTENCE_END = /(?<=[.;!?\n])(?=\s|$)|(?<=[。；！？])/u
const CLAUSE_START =
  /(?<=[,:])(?=\s)|(?<=[，、：])|(?=\s(?:and|then|or|but|und|dann|oder|et|puis|ou|y|luego)\s)|(?=然后|接着|并且|并把|再把)/u

type ClauseKind = 'tells' | 'reads' | 'open'

export interface RequestedActions {
  /** Clauses that ask to send something, or that contain no known verb. */
  readonly sendClauses: readonly string[]
  /** Whether any clause asks to send something. */
  readonly asksToSend: boolean
  /** Whether any clause asks to click, choose or fill in something. */
  readonly asksToOperatePage: boolean
}

export function findRequestedActions(texts: readonly string[]): RequestedActions {
  const asked = texts.map(actionsInText)
  return {
    sendClauses: asked.flatMap(({ sendClauses: telling }) => telling),
    asksToSend: asked.some(({ asksToSend: tells }) => tells),
    asksToOperatePage: asked.some(({ asksToOperatePage: presses }) => presses),
  }
}

function actionsInText(text: string): RequestedActions {
  const telling: string[] = []
  let [run, before, tells] = ['', '', false]
  for (const sentence of text.split(SENTENCE_END)) {
    let kind: ClauseKind = 'open'
    for (const clause of sentence.split(CLAUSE_START)) {
      const own = classifyClause(clause)
      // A clause without a known verb continues the clause before it.
      if (own !== 'open') kind = own
      if (kind === 'reads') {
        telling.push(run)
        run = ''
      } else run += clause
      if (own === 'tells' && hasPronoun(clause)) telling.push(before)
      tells ||= own === 'tells'
      before += clause
    }
  }
  return {
    sendClauses: [...telling, run].filter((one) => one.trim() !== ''),
    asksToSend: tells,
    asksToOperatePage: containsVerb(text, PAGE_VERBS, PAGE_VERBS_HAN),
  }
}

function classifyClause(clause: string): ClauseKind {
  if (containsVerb(clause, SEND_VERBS, SEND_VERBS_HAN)) return 'tells'
  return containsVerb(clause, READ_VERBS, READ_VERBS_HAN) ? 'reads' : 'open'
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}’'-]+/gu) ?? []

/** Whether the text contains one of the verbs in its plain form, not used as a noun. */
function containsVerb(text: string, verbs: ReadonlySet<string>, han: RegExp): boolean {
  const words = wordsOf(text.replaceAll(/\S*[:/@#]\S*/g, ' '))
  return han.test(text) || words.some((word, at) => verbs.has(word) && !BEFORE_NOUN.has(words[at - 1] ?? ''))
}

const hasPronoun = (clause: string): boolean =>
  PRONOUNS_HAN.test(clause) || wordsOf(clause).some((word) => PRONOUNS.has(word))
