/** Reasons that the server gives in English, in the language of the page. Unknown ones stay as they are. */

import type { Language } from '../format.ts'

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
  [/^(.+), and the session has read outside content$/, '$1，而且会话读过外部内容'],
]

export function translateReason(reason: string, language: Language): string {
  if (language === 'en') return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
  const found = CHINESE.find(([pattern]) => pattern.test(reason))
  return found ? reason.replace(found[0], found[1]) : reason
}
