/** Shows what takes long to prepare after the rest of the page is drawn, so that no task of the page is long. */

import type { ComponentChild } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export function AfterPaint({ children }: { readonly children: () => ComponentChild }) {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setDrawn(true))
    return () => clearTimeout(timer)
  }, [])
  return isDrawn ? children() : null
}
