/** Service `memory`: facts that outlive a run, for plugins and programs. */

import { z } from 'zod'
import { DEFAULT_AGENT } from '../domain/agent.ts'
import { MAX_FACT_KEY, MAX_FACT_TEXT } from '../domain/fact.ts'
import { TRUSTS, UNTRUSTED_LABEL } from '../domain/label.ts'
import { MAX_INSTANT_MS } from '../domain/limits.ts'
import type { FactMemory } from '../ports/agent-services.ts'
import { type Clock, iso } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { checkArguments } from './check-arguments.ts'

const agent = z.string().min(1).max(200).default(DEFAULT_AGENT)
const key = z.string().trim().min(1).max(MAX_FACT_KEY)
const toRemember = z.strictObject({
  ...{ agent, key },
  text: z.string().trim().min(1).max(MAX_FACT_TEXT),
  label: z.strictObject({ trust: z.enum(TRUSTS), private: z.boolean() }).default(UNTRUSTED_LABEL),
  until: z.int().min(0).max(MAX_INSTANT_MS).optional(),
})
const toRecall = z.strictObject({
  ...{ agent, text: z.string().trim().min(1).max(100_000) },
  limit: z.int().min(1).max(100).default(8),
})
const toForget = z.strictObject({ agent, key })

interface FactMemoryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
}

export function createFactMemory({ store, clock, ids }: FactMemoryDeps): FactMemory {
  return {
    async remember(given) {
      const { agent: agent_id, key, text, label, until } = checkArguments('memory.remember', toRemember, given)
      const [id, now] = [ids.next(), clock.now()]
      // No session wrote it; undo and the past find it by its id.
      const fact = {
        ...{ id, agent_id, session_id: '', turn: 0, key, text, ...label, created_at: iso(now) },
        expires_at: until === undefined ? null : iso(until),
      }
      const [{ superseded }] = await commitOne(store, [{ op: 'remember', fact, now: clock.borneOut() }])
      return { id, replaced: superseded }
    },
    async recall(given) {
      const { agent: agent_id, text, limit } = checkArguments('memory.recall', toRecall, given)
      return store.recallFacts({ agent_id, text, now: clock.borneOut(), limit })
    },
    async forget(given) {
      const { agent: agent_id, key } = checkArguments('memory.forget', toForget, given)
      const [{ forgotten }] = await commitOne(store, [{ op: 'forget', agent_id, key, before: clock.now() }])
      return forgotten
    },
  }
}
