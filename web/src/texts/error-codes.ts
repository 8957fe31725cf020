/** Errors of runs by code or pattern, in the language of the page. Details stay in the words of the server. */

import type { ErrorCode } from '../../../src/domain/error.ts'
import type { Language } from '../format.ts'

/** The codes with which errors of runs begin. */
const CODES: Partial<Readonly<Record<ErrorCode, string>>> = {
  model_auth: '服务商拒绝了密钥',
  model_refused: '模型的服务商拒绝了请求',
  model_oversize: '内容超出模型可读的长度',
  model_unknown: '没有这个模型',
  model_unsent: '请求没有发出',
  model_limited: '模型限流',
  model_unavailable: '模型不可用',
  model_timeout: '模型超时',
  model_cut: '模型的回答不完整',
  model_garbled: '模型的回答无法读取',
  model_empty: '模型没有回答',
  budget_money: '剩下的钱不够再问一次模型',
  budget_busy: '余下的预算被其他运行占用',
  budget_calls: '模型调用次数已用完',
  budget_tokens: 'token 已用完',
  budget_unpriced: '不知道模型的价格，无法计入预算',
  tool_failed: '工具失败',
  path_refused: '不允许使用这个路径',
  not_written: '文件没有写成，内容没有变',
  egress_refused: '不允许访问这个地址',
  sandbox_missing: '没有可用的沙箱',
  aborted: '被中止',
  internal: '程序内部出错',
}

const CODE = /^([a-z]+(?:_[a-z]+)*): (.*)$/s

/** What providers answer, as the server says it: `openai/gpt-5: the provider refuses the request; got 400 …`. */
const PROVIDER = new RegExp(
  '^(\\S+/\\S+): (the provider [a-z ]+?|the account has no credit left|the request is too long for the model)' +
    '(?:; got (.+?))?(?:; expected .+?)?(?:; do this: .*)?$',
  'is',
)
const PROVIDER_SENTENCES: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  'the provider refuses the request': { en: 'the provider refuses the request', zh: '服务商拒绝了请求' },
  'the provider refuses the API key': { en: 'the provider refuses the API key', zh: '服务商拒绝了密钥' },
  'the provider is unavailable': { en: 'the provider is unavailable', zh: '服务商暂时不可用' },
  'the provider limits the request rate': { en: 'the provider limits the request rate', zh: '服务商限制了请求频率' },
  'the provider cannot be reached': { en: 'the provider cannot be reached', zh: '连接不上服务商' },
  'the provider stopped sending data': { en: 'the provider stopped sending data', zh: '服务商中途不再发送数据' },
  'the account has no credit left': { en: 'the account has no credit left', zh: '账户里没有余额了' },
  'the request is too long for the model': {
    en: 'the request is too long for the model',
    zh: '内容超出模型可读的长度',
  },
}

function describeProvider(detail: string, language: Language): string | undefined {
  const [, model = '', what = '', got] = PROVIDER.exec(detail) ?? []
  const said = PROVIDER_SENTENCES[what]?.[language]
  if (said === undefined) return undefined
  const [open, close] = language === 'en' ? [' (', ')'] : ['（', '）']
  const sentence = `${model}${language === 'en' ? ': ' : '：'}${said}`
  return got === undefined ? sentence : `${sentence}${open}${got}${close}`
}

const MINUTE_MS = 60_000

/** Of an earlier version: the limit in milliseconds. */
function sayLimit(ms: number, language: Language): string {
  const [count, en, zh] = ms % MINUTE_MS === 0 ? [ms / MINUTE_MS, 'minute', '分钟'] : [ms / 1000, 'second', '秒']
  return language === 'en' ? `${count} ${en}${count === 1 ? '' : 's'}` : `${count} ${zh}`
}

/** What the server says of answers that could not be used is for the model. */
const UNUSABLE = /^decision_(?:invalid|empty): .*?(?:\(after (\d+) failures in a row\))?$/s

function sayUnusable(times: string | undefined, language: Language): string {
  if (language === 'zh') return times === undefined ? '模型的回答无法使用' : `模型的回答连续 ${times} 次无法使用`
  const how = times === undefined ? '' : `, ${times} times in a row`
  return `the model’s answers could not be used${how}`
}

const OLD_TIME_LIMIT = /^the run exceeded its time limit of (\d+) ms$/

const CHINESE_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^the run reached its limit of (\d+) steps.*$/, '达到步数上限 $1 步'],
  [/^the run used (\d+) tokens; its limit is (\d+)$/, '用了 $1 个 token，上限是 $2'],
  [/^the run spent (\S+) USD; its limit is (\S+) USD$/, '花了 $1 美元，上限是 $2 美元'],
  [/^the run exceeded its time limit of (\S+) (?:minutes?)$/, '超过了时间上限 $1 分钟'],
  [/^the run exceeded its time limit of (\S+) (?:hours?)$/, '超过了时间上限 $1 小时'],
  [/^the run exceeded its time limit of (\S+) (?:days?)$/, '超过了时间上限 $1 天'],
  [/^the run exceeded its time limit of (\S+) (?:seconds?)$/, '超过了时间上限 $1 秒'],
  [/^(T\d+) did not pass its check in (\d+) rounds$/, '$1 做了 $2 轮，仍没有通过检查'],
  [/^no todo is left that could be worked on$/, '没有可以继续做的待办'],
  [/^the agent gave up$/, '智能体放弃了'],
  [/^the run changed its behaviour (\d+) times without coming to an end$/, '它的行为变了 $1 次，还没有结束'],
  [/^(\d+) steps in a row returned nothing new$/, '连续 $1 步没有得到新的内容'],
  [/^(\d+) steps in a row repeated blocked calls$/, '连续 $1 步重复被拦下的调用'],
  [
    /^the task tells to write (.+), but no call of the run wrote it\. The answer was: (.*)$/s,
    '任务要求写 $1，但没有一次调用写了它。它的回答是：$2',
  ],
  [
    /^the last call failed \((.+)\), and none after it succeeded\. The answer was: (.*)$/s,
    '最后一次调用失败（$1），之后也没有成功的调用。它的回答是：$2',
  ],
  [/^the answer does not match its schema: (.+)\. The answer was: (.*)$/s, '回答不符合要求的格式：$1。它的回答是：$2'],
  [/^not finished within the limit of steps$/, '没有在步数上限内完成'],
]

/** The server's opening of a reply about work that failed. */
const NOT_FINISHED = /^\*\*(?:Not finished\.|没有完成。)\*\* ?([^\n]*)(.*)$/s
const NOT_FINISHED_OPENINGS: Readonly<Record<Language, string>> = { en: '**Not finished.** ', zh: '**没有完成。** ' }

/** Contract: without the code of the program; text that is no error known here stays as it is. */
export function describeCode(error: string, language: Language): string {
  const [reply, first = '', rest = ''] = NOT_FINISHED.exec(error) ?? []
  if (reply !== undefined) return `${NOT_FINISHED_OPENINGS[language]}${describeCode(first, language)}${rest}`
  const [unusable, times] = UNUSABLE.exec(error) ?? []
  if (unusable !== undefined) return sayUnusable(times, language)
  const [old, ms] = OLD_TIME_LIMIT.exec(error) ?? []
  if (old !== undefined)
    return `${language === 'en' ? 'the run exceeded its time limit of' : '超过了时间上限'} ${sayLimit(Number(ms), language)}`
  const [, code = '', detail = ''] = CODE.exec(error) ?? []
  const words = Object.hasOwn(CODES, code) ? CODES[code as ErrorCode] : undefined
  const provider = describeProvider(words === undefined ? error : detail, language)
  if (provider !== undefined) return provider
  if (words !== undefined) return language === 'en' ? detail : `${words}：${detail}`
  const [pattern, text] = CHINESE_ERRORS.find(([each]) => language === 'zh' && each.test(error)) ?? []
  return pattern && text ? error.replace(pattern, text) : error
}
