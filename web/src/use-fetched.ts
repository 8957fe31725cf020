/** What a place reads from the server: fetched when it is shown, and again whenever something may have changed. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, isUnauthorized } from './api.ts'
import type { PageState } from './page-state.ts'

export type Fetched<T> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly data: T }
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string }

const LOADING = { kind: 'loading' } as const

/**
 * Contract: what `fetch` returned last; another `key` starts anew. A failure replaces only what was never fetched, so
 * that a lost connection does not empty the screen.
 */
export function useFetched<T>(page: PageState, key: string, fetch: () => Promise<T>): Fetched<T> {
  const [state, setState] = useState<{ readonly key: string; readonly fetched: Fetched<T> }>()
  useEffect(() => {
    let isCurrent = true
    const show = (fetched: Fetched<T>, isKept: boolean): void => {
      if (isCurrent)
        setState((was) => (isKept && was?.key === key && was.fetched.kind === 'ready' ? was : { key, fetched }))
    }
    const stop = page.keepFresh(async () => {
      try {
        show({ kind: 'ready', data: await fetch() }, false)
      } catch (thrown) {
        const isBroken = isNoAnswer(thrown)
        if (!isUnauthorized(thrown)) show(failureOf(thrown), isBroken)
        // The page tries again what got no answer; a refusal is an answer.
        if (isBroken || isUnauthorized(thrown)) throw thrown
      }
    })
    return () => {
      isCurrent = false
      stop()
    }
  }, [page, key])
  return state?.key === key ? state.fetched : LOADING
}

/** Contract: what was fetched last for this subject, also while more of it is on the way. */
export function useKept<T>(state: Fetched<T>, subject: string): T | undefined {
  const kept = useRef<{ readonly subject: string; readonly data: T }>(null)
  if (state.kind === 'ready') kept.current = { subject, data: state.data }
  return kept.current?.subject === subject ? kept.current.data : undefined
}

function failureOf(thrown: unknown): Extract<Fetched<never>, { kind: 'failed' }> {
  if (!(thrown instanceof ApiError)) return { kind: 'failed', code: '', reason: '' }
  return { kind: 'failed', code: thrown.code, reason: thrown.message }
}

/** A server that fails or is about to end may answer the same request soon. */
const NO_ANSWERS: ReadonlySet<string> = new Set(['internal', 'aborted', 'store_closed'])

const isNoAnswer = (thrown: unknown): boolean => !(thrown instanceof ApiError) || NO_ANSWERS.has(thrown.code)
