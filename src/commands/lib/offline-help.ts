/** What is possible without a model, as a chat says it. English and Chinese. Pure. */

import type { Language } from '../../domain/language.ts'
import { OFFLINE_SENTENCES } from '../../domain/offline-sentences.ts'

const GREETING = [
  '(?:hello|hi|hey|good (?:morning|afternoon|evening)',
  '你好|您好|嗨|哈喽|早上好|下午好|晚上好|早)',
].join('|')
const QUESTION = [
  'what (?:all )?(?:can|could|do) you do(?: for me| here)?|what are you(?: able to do)?',
  "who are you|what(?: i|['’])s this",
  'how (?:can|could) you help(?: me)?|what can i (?:do|ask|say)(?: here)?|help(?: me)?',
  '你?(?:都)?(?:能|会|可以)(?:帮我)?(?:做|干)?(?:点|些)?(?:什么|啥|哪些事?情?)(?:事情?)?|你是谁|怎么用(?:你)?|帮助',
].join('|')
const END = '[\\s,，.。!！?？~～呀啊呢吗]*'
const ASKS = new RegExp(`^\\s*(?:${GREETING}${END})?(?:(?:and|so)\\s+)?(?:${QUESTION})${END}$`, 'i')
const GREETS = new RegExp(`^\\s*${GREETING}(?: there| tireless)?${END}$`, 'i')

/** Contract: whether the text only greets, or asks what the agent is able to do. */
export const asksWhatIsPossible = (text: string): boolean => ASKS.test(text) || GREETS.test(text)

interface Texts {
  readonly records: string
  readonly noModel: string
  readonly cannot: string
  readonly sentences: string
  readonly model: { readonly page: string; readonly commandLine: string }
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    records:
      'I can answer from the records: what I did, what it cost, what failed, what changed, what waits for you ' +
      '(for example: “What did you do yesterday?”).',
    noModel: 'Hello! No model is set up yet, so I follow fixed rules and understand only some sentences.',
    cannot: 'No model is configured, so I cannot work on this.',
    sentences: 'I can do simple tasks, too.',
    model: {
      page: 'To talk freely, set up a model in Settings → Models.',
      commandLine:
        'Simple tasks run with `tireless run "create a.txt with the content hello"`. ' +
        'To talk freely, set a key such as ANTHROPIC_API_KEY, or see `tireless models list`.',
    },
  },
  zh: {
    records: '我能根据记录回答：做了什么、花了多少、什么失败了、改了什么、什么在等你（例如：“你昨天做了什么？”）。',
    noModel: '你好！还没有设置模型，所以我按固定的规则工作，只看得懂一些句子。',
    cannot: '还没有配置模型，所以我不能做这件事。',
    sentences: '简单的任务我也能做。',
    model: {
      page: '要自由对话，请在“设置 → 模型”里设置一个模型。',
      commandLine:
        '简单的任务可用 `tireless run "create a.txt with the content hello"`。' +
        '要自由对话，请设置 ANTHROPIC_API_KEY 之类的密钥，或查看 `tireless models list`。',
    },
  },
}

export function sayWhatIsPossible(language: Language, onPage: boolean): string {
  const { noModel, records, sentences, model } = TEXTS[language]
  const [opening = '', ...list] = OFFLINE_SENTENCES[language]
  return [
    noModel,
    '',
    records,
    '',
    `${sentences} ${opening}`,
    ...list,
    '',
    model[onPage ? 'page' : 'commandLine'],
  ].join('\n')
}

/** Contract: the answer to what is neither a question about the records nor a task that the rules know. */
export function sayNotPossible(language: Language, onPage: boolean): string {
  const { cannot, records, model } = TEXTS[language]
  return [cannot, records, model[onPage ? 'page' : 'commandLine']].join(language === 'en' ? ' ' : '')
}
