/**
 * The prompts of a run for `trace show`: the composition of each request, and how much of it the provider's cache can
 * save.
 */

import type { Event } from '../domain/event.ts'
import type { PromptComposition } from '../domain/journal-record.ts'

interface TracedPrompt {
  readonly step_id: number
  readonly model: string
  /** Estimated tokens: in total (`tokens`), and by section. */
  readonly tokens: number
  readonly sections: Readonly<Record<string, number>>
  readonly bytes: number
  /** The share of the request's bytes that the provider's cache can save, 0 to 1. */
  readonly cached_share: number
  readonly cut: readonly string[]
  readonly dropped: readonly string[]
}

export function promptsFromEvents(events: readonly Event[]): readonly TracedPrompt[] {
  return events.flatMap(({ phase, stage, step_id, payload }): TracedPrompt[] => {
    if (phase !== 'DECIDE' || stage !== 'model_input') return []
    const { model, composition } = payload as { readonly model?: string; readonly composition?: PromptComposition }
    if (!composition) return []
    const { sections, bytes, cached, cut = [], dropped = [] } = composition
    return [
      {
        step_id,
        model: model ?? '',
        tokens: Object.values(sections).reduce((sum, tokens) => sum + tokens, 0),
        sections,
        bytes,
        cached_share: bytes === 0 ? 0 : cached / bytes,
        cut,
        dropped,
      },
    ]
  })
}
