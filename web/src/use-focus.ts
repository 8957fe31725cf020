/** The focus for a field that was just opened. */

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Contract: the element has the focus before it is drawn, so that it gets even what is typed at once. */
export function useFocus<Field extends HTMLElement>(): RefObject<Field | null> {
  const field = useRef<Field>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  return field
}
