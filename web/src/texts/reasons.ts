/** Reasons that the server gives in English, in the language of the page. Unknown ones stay as they are. */

import type { FailureClass, StopReason } from '../../../src/domain/stop-reason.ts'
import type { Language } from '../format.ts'
import { describeError } from './error-reasons.ts'
import { explainError } from './errors.ts'
import { CHINESE_STATES } from './state-reasons.ts'

/** Patterns of the policy's reasons; `$1` is what the reason names. */
const CHINESE: readonly (readonly [RegExp, string])[] = [
  [/^it has no outside effect$/, '它对外没有影响'],
  [/^it only changes the workspace$/, '它只修改自己的文件夹'],
  [/^reading is allowed; the result is labelled private and untrusted$/, '允许读取；结果会标为私密且不可信'],
  [/^your instructions ask for it and name its destination$/, '你的指示要求这样做，并指明了去处'],
  [
    /^your instructions name the destination, and the session has read no outside content$/,
    '你的指示指明了去处，而且会话没有读过外部内容',
  ],
  [/^a person allowed it$/, '你已允许'],
  [/^(\S+) is in policy\.allow_hosts$/, '$1 在允许的主机之列'],
  [/^it changes the agent itself$/, '它会修改智能体自身'],
  [/^it spends money, destroys, publishes, or touches credentials$/, '它会花钱、销毁、发布或接触凭据'],
  [/^it publishes something$/, '它会发布内容'],
  [/^it sends data to a third party$/, '它会把数据发给第三方'],
  [
    /^it tells (\S+) (.+), which neither your instructions nor that host has said,.*$/s,
    '它会告诉 $1 $2，这既不在你的指示里，也不是那台主机说过的，而且会话读过外部内容',
  ],
  [/^it goes to (.+), which your instructions do not name(.*)$/, '它发往 $1，而你的指示里没有提到$2'],
  [
    /^what it sends cannot be inspected, and the session has read private data$/,
    '无法查看它发送的内容，而且会话读过私人数据',
  ],
  [/^your instructions do not ask to send anything(.*)$/, '你的指示没有要求发送任何东西$1'],
  [
    /^your instructions alone do not ask for (\S+), and the session has read outside content$/,
    '你的指示本身没有要求 $1，而且会话读过外部内容',
  ],
  [
    /^it is unclear whether your instructions ask for it, and the session has read outside content$/,
    '不清楚你的指示是否要求这样做，而且会话读过外部内容',
  ],
  [/^the run was interrupted while a gate checked the call$/, '检查这个调用时运行被中断'],
  [/^the gate (\S+) says: (.+)$/s, '检查 $1 说：$2'],
  [/^the gate (\S+) failed: (.+)$/s, '检查 $1 出错：$2'],
  [/^(\S+) failed to check the call: (.+)$/s, '$1 无法检查这个调用：$2'],
  [/^(.+) \(sub-agent (\S+), spawned by (\S+), run (\S+)\)$/s, '$1（子智能体 $2，由 $3 派出，运行 $4）'],
  [/^(.+), and the session has read outside content$/s, '$1，而且会话读过外部内容'],
]

/** Reasons that name a command for a terminal. The page has buttons for these. */
const WITHOUT_COMMAND: readonly (readonly [RegExp, string])[] = [
  [/^(.+) needs approval\. Run: .*$/s, '$1 needs your approval'],
  [/^(it is unknown whether \S+ took effect)\. Run: .*$/s, '$1'],
]

export function translateReason(text: string, language: Language): string {
  if (language === 'zh') {
    const chinese = inChinese(text)
    return chinese === text ? explainError(text, 'zh') : chinese
  }
  const reason = explainError(text, 'en')
  const said = withoutCommand(reason)
  return said === reason ? `${reason.charAt(0).toUpperCase()}${reason.slice(1)}` : said
}

const withoutCommand = (reason: string): string =>
  WITHOUT_COMMAND.reduce((said, [pattern, text]) => said.replace(pattern, text), reason)

/** A reason may be made of others: of several parts, or of one that another one explains. */
function inChinese(reason: string): string {
  const [pattern, text] = [...CHINESE, ...CHINESE_STATES].find(([each]) => each.test(reason)) ?? []
  if (pattern && text) return reason.replace(pattern, text)
  const parts = reason.split('; ')
  const said = parts.length > 1 ? parts.map(inChinese) : parts
  return said.some((part, at) => part !== parts[at]) ? said.join('；') : reason
}

/** Where the destination of a call comes from. */
const ORIGINS: readonly (readonly [RegExp, string])[] = [
  [/^written by the model$/, '模型写的'],
  [/^your instructions$/, '你的指示'],
  [/^the critic (\S+) \(turn (\d+)\)$/, '检查 $1（第 $2 轮）'],
]

export function describeOrigin(origin: string, language: Language): string {
  const [pattern, text] = (language === 'zh' && ORIGINS.find(([each]) => each.test(origin))) || []
  return pattern && text ? origin.replace(pattern, text) : origin
}

/** Why a run failed. */
const FAILURES: Readonly<Record<FailureClass, Readonly<Record<Language, string>>>> = {
  timeout: { en: 'It took too long', zh: '用时太长' },
  cancelled: { en: 'It was cancelled', zh: '被取消了' },
  awaiting_input: { en: 'It waited for an answer that did not come', zh: '没有等到回答' },
  no_real_action: { en: 'It did nothing that could be checked', zh: '没有做出可以核实的事' },
  invalid_result: { en: 'There is no result that could be accepted', zh: '没有得到可以接受的结果' },
  budget: { en: 'It reached a limit of its budget', zh: '达到了预算上限' },
  policy: { en: 'The policy did not allow it', zh: '策略不允许' },
  provider: { en: 'The model did not answer as needed', zh: '模型没有给出可用的回答' },
  infra: { en: 'Something in the program or the machine failed', zh: '程序或机器出了问题' },
}

export const describeFailureClass = (failure: FailureClass | null, language: Language): string =>
  failure === null ? '' : (FAILURES[failure]?.[language] ?? failure)

/** Why a run ended. */
const ENDINGS: Readonly<Record<StopReason, Readonly<Record<Language, string>>>> = {
  success: { en: 'finished', zh: '已完成' },
  final: { en: 'finished', zh: '已完成' },
  budget_steps: { en: 'reached its limit of steps', zh: '达到步数上限' },
  budget_time: { en: 'reached its limit of time', zh: '达到时间上限' },
  budget_tokens: { en: 'reached its limit of tokens', zh: '达到 token 上限' },
  budget_money: { en: 'reached its limit of money', zh: '达到花费上限' },
  agent_condition: { en: 'its own condition was met', zh: '满足了自身的结束条件' },
  critic_stop: { en: 'a check stopped it', zh: '被检查停止' },
  stagnation: { en: 'repeated itself', zh: '一再重复，没有进展' },
  env_terminal: { en: 'its environment ended it', zh: '由运行环境结束' },
  stop_rule: { en: 'a rule ended it', zh: '由规则结束' },
  task_validation_failed: { en: 'the task was not valid', zh: '任务不合要求' },
  env_capability_mismatch: { en: 'its environment lacks something', zh: '运行环境缺少所需能力' },
  unrecoverable_error: { en: 'an error that could not be repaired', zh: '出现无法恢复的错误' },
  cancelled: { en: 'cancelled', zh: '已取消' },
  context_overflow: { en: 'too much to read for the model', zh: '内容超出模型可读的长度' },
}

/** Contract: the line of a run in a list: why it failed, what it waits for, or what came of it. */
export function describeOutcome(status: string, outcome: string, language: Language): string {
  if (status === 'failed' || status === 'dead') return describeError(outcome, language)
  return status === 'waiting' ? describeStop(outcome, language) : outcome
}

/** Contract: the words for a stop reason, a wait or an idle cycle, as a part of a line; an error stays as it is. */
export function describeStop(reason: string, language: Language): string {
  if (Object.hasOwn(ENDINGS, reason)) return ENDINGS[reason as StopReason][language]
  // A wait says more than its error: that it is tried again.
  const said = language === 'en' ? withoutCommand(reason) : inChinese(reason)
  return said === reason ? explainError(reason, language) : said
}
