/** Labels in plain words: whether a text is the owner's, and whether it may be passed on. */

import { Dot } from '../components.tsx'
import type { MemoryTexts } from '../texts/memory.ts'

export interface Labelled {
  readonly trust: 'trusted' | 'untrusted'
  readonly private: boolean
}

export function LabelWords({ own, label }: { readonly own: MemoryTexts; readonly label: Labelled }) {
  const words = [label.trust, ...(label.private ? (['private'] as const) : [])]
  return (
    <span class="inline-flex flex-wrap items-center gap-x-3">
      {words.map((word) => (
        <span key={word} class="label inline-flex items-center gap-1.5" title={own.labels[word]} data-label={word}>
          <Dot tone={word === 'trusted' ? 'live' : 'wait'} />
          {own.labelWords[word]}
        </span>
      ))}
    </span>
  )
}
