/** Wrappers of the store: redaction, semantic recall, error log. */

import { asTirelessError } from '../domain/error.ts'
import { type Redact, redactValue } from '../domain/redact.ts'
import { semanticRecall } from '../memory/semantic.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Services } from '../ports/plugin.ts'
import type { Batch, Op, Store } from '../ports/store.ts'

/** Ops on documents are redacted by their writer: here the digest of the text is already computed. */
const DOCUMENT_OPS: ReadonlySet<Op['op']> = new Set(['document', 'project'])

/** Redacts every write, so that no secret reaches the database. */
export function withRedaction(store: Store, hide: Redact): Store {
  // Records of runs are redacted when they are created.
  const isRedacted = ({ op }: Op, fence: unknown): boolean =>
    DOCUMENT_OPS.has(op) || (op === 'append' && fence !== undefined)
  const redactBatch = (batch: Batch): Batch => ({
    ...batch,
    ops: batch.ops.map((op) => (isRedacted(op, batch.fence) ? op : redactValue(op, hide))),
  })
  return { ...store, commit: (batches) => store.commit(batches.map(redactBatch)) }
}

/**
 * Finds facts by meaning if there is an embedder. The embedder is looked up at each query, because plugins add it
 * later.
 */
export function withSemanticRecall(store: Store, embedders: readonly Embedder[]): Store {
  let [recall, usedEmbedder]: [Store['recallFacts'], Embedder | undefined] = [store.recallFacts, undefined]
  return {
    ...store,
    recallFacts(query) {
      const embedder = embedders.at(-1)
      if (embedder !== usedEmbedder)
        [recall, usedEmbedder] = [embedder ? semanticRecall(store, embedder) : store.recallFacts, embedder]
      return recall(query)
    },
  }
}

/** Logs refused writes of runs that lost their fence, and failed commits: the callers do not report them. */
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
