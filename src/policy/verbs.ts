/**
 * What the owner's words ask to be done: to tell somebody something, to press something, or only to read. A second witness beside the model that is asked for the
 * task's intent: whoever is named as a place to read from was not named as one to write to, whatever that model says. Of a language that is not known here nothing is
 * asked for, so that a person is.
 */

const list = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

const TELL = list(
  `send tell post write mail email message reply answer respond notify inform share forward invite add remind announce report comment text ping ask warn contact
  call upload submit create update file open-issue book schedule greet welcome congratulate thank publish put draft pass let give drop deliver transmit assign
  sende schicke sag sage schreibe schreib antworte melde teile informiere benachrichtige erinnere lade leite frage
  envoie envoyez dis écris écrivez réponds répondez préviens partage invite transmets
  envía envia di escribe responde avisa comparte invita reenvía informa`,
)
const READ = list(
  `read look check see find search open visit summarize summarise compare list get fetch watch review browse view analyse analyze sort count research
  lies lese schau prüfe suche öffne fasse vergleiche lis lisez regarde cherche ouvre résume lee mira busca abre resume`,
)
const PRESS = list(
  'click press submit tap choose select pick buy order book log sign confirm accept search type fill enter klicke drücke clique appuie haz pulsa',
)
const TELL_HAN =
  /发|告诉|告知|通知|回复|答复|回信|写信|写给|转给|分享|邀请|添加|加入|提醒|汇报|报告|评论|联系|问|寄|上传|提交|创建|预约|说一声|留言/u
const READ_HAN = /读|看|查|搜|浏览|打开|访问|总结|整理|比较|列出|找/u
const PRESS_HAN = /点击|点一下|按|提交|选|登录|搜索|输入|填|确认|下单/u

/** Behind these stands a thing, not a deed: «a post», «my mail». */
const BEFORE_THINGS = list(
  'a an the my your his her its our their this that these those each every any some no new in of from by as via direct following next last der die das ein eine mein meine le la les un une mon ma el los las mi',
)
/** They stand for whoever was named before. */
const FOR_NAMED = list('them him her there everyone everybody each ihnen ihm leur lui les')
const FOR_NAMED_HAN = /他们|她们|他|她|大家|各位/u

const ENDS = /(?<=[.;!?\n])(?=\s|$)|(?<=[。；！？])/u
const PARTS =
  /(?<=[,:])(?=\s)|(?<=[，、：])|(?=\s(?:and|then|or|but|und|dann|oder|et|puis|ou|y|luego)\s)|(?=然后|接着|并且|并把|再把)/u

type Part = 'tells' | 'reads' | 'open'

export interface Asked {
  /** Words in which something is to be told, or which leave open what is to be done. */
  readonly telling: readonly string[]
  /** Whether anything is to be told at all. */
  readonly tells: boolean
  /** Whether anything is to be pressed, chosen or filled in. */
  readonly presses: boolean
}

export function askedIn(texts: readonly string[]): Asked {
  const asked = texts.map(askedInText)
  return {
    telling: asked.flatMap(({ telling }) => telling),
    tells: asked.some(({ tells }) => tells),
    presses: asked.some(({ presses }) => presses),
  }
}

function askedInText(text: string): Asked {
  const telling: string[] = []
  let [run, before, tells] = ['', '', false]
  for (const sentence of text.split(ENDS)) {
    let kind: Part = 'open'
    for (const part of sentence.split(PARTS)) {
      const own = kindOf(part)
      // What has no verb goes on with what was said before it.
      if (own !== 'open') kind = own
      if (kind === 'reads') {
        telling.push(run)
        run = ''
      } else run += part
      if (own === 'tells' && standsForNamed(part)) telling.push(before)
      tells ||= own === 'tells'
      before += part
    }
  }
  return { telling: [...telling, run].filter((one) => one.trim() !== ''), tells, presses: has(text, PRESS, PRESS_HAN) }
}

function kindOf(part: string): Part {
  if (has(part, TELL, TELL_HAN)) return 'tells'
  return has(part, READ, READ_HAN) ? 'reads' : 'open'
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}’'-]+/gu) ?? []

/** Whether one of the deeds is asked for: by its plain form, and not as a thing. */
function has(text: string, deeds: ReadonlySet<string>, han: RegExp): boolean {
  const words = wordsOf(text.replaceAll(/\S*[:/@#]\S*/g, ' '))
  return han.test(text) || words.some((word, at) => deeds.has(word) && !BEFORE_THINGS.has(words[at - 1] ?? ''))
}

const standsForNamed = (part: string): boolean =>
  FOR_NAMED_HAN.test(part) || wordsOf(part).some((word) => FOR_NAMED.has(word))
