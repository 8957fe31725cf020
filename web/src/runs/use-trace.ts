/** A run's dispatch and events: fetched once, then followed live. */

import { useEffect, useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import type { Event } from '../../../src/domain/event.ts'
import { ApiError, readCommand } from '../api.ts'
import type { PageState } from '../page-state.ts'

export type RunDetails = CommandOutput<'queue show'>
type Manifest = CommandOutput<'trace show'>['manifest']

export interface RunTrace {
  readonly dispatch: RunDetails
  /** Null if the run has not started. */
  readonly manifest: Manifest | null
  readonly events: readonly Event[]
}

export type TraceState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly reason: string }
  | ({ readonly kind: 'ready' } & RunTrace)

const ENDED = ['done', 'failed', 'dead', 'cancelled']
export const isEnded = ({ status }: { readonly status: string }): boolean => ENDED.includes(status)

/** Contract: the run with this id, kept up to date while it is shown; `loading` for an empty id. */
export function useTrace(page: PageState, id: string): TraceState {
  const [state, setState] = useState<{ readonly id: string; readonly trace: TraceState }>()
  useEffect(() => {
    if (id === '') return
    const follower = new TraceFollower(id, (trace) => setState({ id, trace }))
    const stopRefreshing = page.keepFresh(() => follower.refresh())
    const stopListening = page.listen((event) => follower.add(event))
    return () => {
      follower.close()
      stopRefreshing()
      stopListening()
    }
  }, [page, id])
  return state?.id === id ? state.trace : { kind: 'loading' }
}

const EVENTS_AT_ONCE = 4000

class TraceFollower {
  readonly #id: string
  readonly #onChange: (trace: TraceState) => void
  #trace: RunTrace | undefined
  #isClosed = false

  constructor(id: string, onChange: (trace: TraceState) => void) {
    this.#id = id
    this.#onChange = onChange
  }

  close(): void {
    this.#isClosed = true
  }

  /** A live event that follows the last one is added; after a gap, the next refresh fetches the rest. */
  add(event: Event): void {
    if (!this.#trace || event.run_id !== this.#trace.dispatch.dispatch_id) return
    if (event.seq === this.#trace.events.length + 1)
      this.#show({ ...this.#trace, events: [...this.#trace.events, event] })
  }

  async refresh(): Promise<void> {
    try {
      const dispatch = await readCommand('queue show', { id: this.#id })
      const isSame = this.#trace && isEnded(dispatch) && dispatch.updated_at === this.#trace.dispatch.updated_at
      if (this.#trace && isSame) this.#show({ ...this.#trace, dispatch })
      else await this.#fetchEvents(dispatch)
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  async #fetchEvents(dispatch: RunDetails): Promise<void> {
    const { manifest, events } = await this.#readEvents(this.#trace?.events.length ?? 0)
    // Events may have arrived meanwhile.
    const known = this.#trace?.events ?? []
    const later = events.filter(({ seq }) => seq > known.length)
    this.#show({ dispatch, manifest, events: [...known, ...later] })
  }

  /** A long run is read in parts, because reading it at once would keep the page from answering. */
  async #readEvents(known: number): Promise<Pick<RunTrace, 'manifest' | 'events'>> {
    const read: Event[] = []
    for (;;) {
      const part = await readCommand('trace show', {
        ...{ run: this.#id, events: true, after: known + read.length, limit: EVENTS_AT_ONCE },
      }).catch((thrown: unknown) => {
        if (thrown instanceof ApiError && thrown.code === 'not_found') return { manifest: null, events: [] }
        throw thrown
      })
      read.push(...(part.events ?? []))
      if ((part.events?.length ?? 0) < EVENTS_AT_ONCE) return { manifest: part.manifest, events: read }
    }
  }

  #fail(thrown: unknown): void {
    // A lost connection is shown elsewhere, and what was fetched stays.
    if (!(thrown instanceof ApiError) || thrown.code === 'unauthorized') throw thrown
    if (this.#isClosed || this.#trace) return
    this.#onChange(thrown.code === 'not_found' ? { kind: 'missing' } : { kind: 'failed', reason: thrown.message })
  }

  #show(trace: RunTrace): void {
    this.#trace = trace
    if (!this.#isClosed) this.#onChange({ kind: 'ready', ...trace })
  }
}
