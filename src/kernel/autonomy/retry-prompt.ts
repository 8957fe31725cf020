/**
 * The prompt of the next attempt after an unattended run reached no result by itself, in its language.
 * Must not know: how that was detected.
 */

import { type Language, SUMMARY_HEADING } from '../../domain/language.ts'
import type { FailureClass } from '../../domain/stop-reason.ts'

/** The seed's text, with the workspace as the place for files. `summary`: of the previous attempt. */
export function retryPrompt(language: Language, summary: string): string {
  const heading = SUMMARY_HEADING[language]
  return language === 'zh'
    ? `Kernel 重试要求：
- 上一次尝试没有自主完成。
- 不要提问，不要请求确认，不要给出 A/B 选项。
- 现在就执行至少一个具体的、真实的工具操作。
- 文件直接写入你的工作区（路径相对于工作区；该目录已授权，可写）。
- 以事实性的“${heading}”结尾，写明具体操作和产物路径。

上一次尝试的总结：
${summary || '（无）'}`
    : `Kernel retry requirement:
- Your previous attempt was not autonomously complete.
- Do NOT ask questions, confirmations, or A/B choices.
- Execute at least one concrete real tool action now.
- Write files directly into your workspace (paths are relative to it; it is authorized and writable).
- Return a factual "${heading}" with concrete actions and artifact paths.

Previous attempt summary:
${summary || '(none)'}`
}

const REASONS: Readonly<Partial<Record<FailureClass, string>>> = {
  awaiting_input: 'it asked a person instead of deciding',
  no_real_action: 'it took no real action',
  invalid_result: 'it ended without a usable result',
}

/** For people: why the run was given up. */
export function describeAutonomyFailure(failure: FailureClass, attempts: number, summary: string): string {
  const count = attempts === 1 ? 'one attempt' : `${attempts} attempts`
  return `${REASONS[failure] ?? failure} after ${count}; last answer: ${summary || '(none)'}`
}
