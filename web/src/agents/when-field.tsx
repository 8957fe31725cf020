/** Says when an agent runs, apart from the sentence. */

import { useState } from 'preact/hooks'
import { Button } from '../components.tsx'
import type { AgentsTexts } from '../texts/agents.ts'

interface WhenProps {
  readonly own: AgentsTexts['maker']
  readonly label: string
  check(when: string): void
}

export function WhenField({ own, label, check }: WhenProps) {
  const [when, setWhen] = useState('')
  return (
    <form
      class="mt-1 flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (when.trim() !== '') check(when.trim())
      }}
    >
      <label class="text-muted" for="agent-when">
        {label}
      </label>
      <input
        id="agent-when"
        class="min-w-0 flex-1 rounded-md border border-line bg-surface px-2.5 py-1.5 placeholder:text-muted sm:max-w-64"
        placeholder={own.whenHint}
        autocomplete="off"
        value={when}
        onInput={({ currentTarget }) => setWhen(currentTarget.value)}
      />
      <Button type="submit">{own.checkAgain}</Button>
    </form>
  )
}
