/**
 * The prompt for another attempt of an unattended run that reached no result by itself, in the language of the run.
 * Must not know: how the failure was detected.
 */

import { type Language, SUMMARY_HEADING } from '../../domain/language.ts'
import type { FailureClass } from '../../domain/stop-reason.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'

/** `summary`: summary of the previous attempt. */
export function retryPrompt(language: Language, summary: string): string {
  const none = language === 'zh' ? '（无）' : '(none)'
  return loadPrompt(`retries/attempt.${language}.md`, {
    heading: SUMMARY_HEADING[language],
    summary: summary || none,
  })
}

const REASONS: Readonly<Partial<Record<FailureClass, string>>> = {
  awaiting_input: 'it asked a person instead of deciding',
  no_real_action: 'it took no real action',
  invalid_result: 'it ended without a usable result',
}

/** A text for people: why the run was given up. */
export function describeAutonomyFailure(failure: FailureClass, attempts: number, summary: string): string {
  const count = attempts === 1 ? 'one attempt' : `${attempts} attempts`
  return `${REASONS[failure] ?? failure} after ${count}; last answer: ${summary || '(none)'}`
}
