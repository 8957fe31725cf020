/** Why runs fail, in the language of the page. Details stay in the words of the server. */

import type { ErrorCode } from '../../../src/domain/error.ts'
import type { Language } from '../format.ts'
import { explainError } from './errors.ts'

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
  decision_invalid: '模型的决定不合要求',
  decision_empty: '模型没有做出决定',
  tool_failed: '工具失败',
  path_refused: '不允许使用这个路径',
  egress_refused: '不允许访问这个地址',
  sandbox_missing: '没有可用的沙箱',
  aborted: '被中止',
  internal: '程序内部出错',
}

const CODE = /^([a-z_]+): (.*)$/s

const CHINESE_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^the run reached its limit of (\d+) steps.*$/, '达到步数上限 $1 步'],
  [/^the run used (\d+) tokens; its limit is (\d+)$/, '用了 $1 个 token，上限是 $2'],
  [/^the run spent (\S+) USD; its limit is (\S+) USD$/, '花了 $1 美元，上限是 $2 美元'],
  [/^the run exceeded its time limit of (\d+) ms$/, '超过了时间上限 $1 毫秒'],
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

/** Contract: what went wrong, without the code of the program. */
export function describeError(error: string, language: Language): string {
  const said = explainError(error, language)
  if (said !== error) return said
  const [, code = '', detail = ''] = CODE.exec(error) ?? []
  const words = Object.hasOwn(CODES, code) ? CODES[code as ErrorCode] : undefined
  if (words !== undefined) return language === 'en' ? detail : `${words}：${detail}`
  const [pattern, text] = CHINESE_ERRORS.find(([each]) => language === 'zh' && each.test(error)) ?? []
  return pattern && text ? error.replace(pattern, text) : error
}
