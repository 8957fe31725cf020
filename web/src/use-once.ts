/** What takes the server long: fetched once for each key, not whenever something may have changed. */

import { useEffect, useRef, useState } from 'preact/hooks'
import type { PageState } from './page-state.ts'
import type { Fetched } from './use-fetched.ts'

/** Contract: what was fetched last, also while the result for another key is on the way; failures become toasts. */
export function useOnce<T>(page: PageState, key: string, fetch: () => Promise<T>): T | undefined {
  const [data, setData] = useState<T>()
  useEffect(() => {
    let isCurrent = true
    fetch().then(
      (fetched) => isCurrent && setData(() => fetched),
      (thrown: unknown) => page.reportFailure(thrown),
    )
    return () => {
      isCurrent = false
    }
  }, [page, key])
  return data
}

/** Contract: the last data that arrived, so that another choice does not empty the screen for a moment. */
export function useLast<T>(fetched: Fetched<T>): T | undefined {
  const last = useRef<T>(undefined)
  if (fetched.kind === 'ready') last.current = fetched.data
  return last.current
}
