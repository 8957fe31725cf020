import { asTirelessError } from '../domain/error.ts'
import { type Redact, redacted } from '../domain/redacted.ts'
import { semanticRecall } from '../memory/semantic.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Services } from '../ports/plugin.ts'
import type { Batch, Op, Store } from '../ports/store.ts'

/** Their own text: what is to be left out of it is left out by whoever writes it, because its digest is known by then. */
const DOCUMENTS: ReadonlySet<Op['op']> = new Set(['document', 'project'])

/** Whoever writes, and whatever it is: no secret comes to lie in the database. */
export function withRedaction(store: Store, hide: Redact): Store {
  // What a run records was hidden when it was made.
  const isHidden = ({ op }: Op, fence: unknown): boolean =>
    DOCUMENTS.has(op) || (op === 'append' && fence !== undefined)
  const hidden = (batch: Batch): Batch => ({
    ...batch,
    ops: batch.ops.map((op) => (isHidden(op, batch.fence) ? op : redacted(op, hide))),
  })
  return { ...store, commit: (batches) => store.commit(batches.map(hidden)) }
}

/** With an embedder, what is remembered is found by its meaning, too. Looked for when it is asked: plugins bring them. */
export function withSemanticRecall(store: Store, embedders: readonly Embedder[]): Store {
  let [recall, of]: [Store['recallFacts'], Embedder | undefined] = [store.recallFacts, undefined]
  return {
    ...store,
    recallFacts(query) {
      const embedder = embedders.at(-1)
      if (embedder !== of) [recall, of] = [embedder ? semanticRecall(store, embedder) : store.recallFacts, embedder]
      return recall(query)
    },
  }
}

/** A run that lost its dispatch to another, and a store that cannot write, are told to nobody who would keep it. */
export function withErrorLog(store: Store, log: Services['log']): Store {
  return {
    ...store,
    async commit(batches) {
      try {
        const outcomes = await store.commit(batches)
        for (const [i, outcome] of outcomes.entries())
          if (!outcome.ok && outcome.code === 'store_fenced')
            log.write('warn', 'run fenced', {
              run_id: batches[i]?.fence?.dispatch_id ?? null,
              message: outcome.message,
            })
        return outcomes
      } catch (thrown) {
        const { code, message } = asTirelessError(thrown)
        log.write('error', 'commit failed', { code, message })
        throw thrown
      }
    },
  }
}
