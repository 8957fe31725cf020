/** The agent was changed elsewhere while its form was open: what changed, and a clear choice. */

import type { AgentDetails } from '../api-types.ts'
import { Button } from '../components.tsx'
import { visibleText } from '../format.ts'
import type { AgentTexts } from '../texts/agent.ts'
import { type AgentDraft, changedFields, draftOf } from './draft.ts'

interface ConflictProps {
  readonly own: AgentTexts
  /** When the form was opened, and now. */
  readonly base: AgentDetails
  readonly agent: AgentDetails
  readonly draft: AgentDraft
  keepMine(): void
  takeTheirs(): void
}

const VALUE_CLASSES = 'max-h-40 overflow-y-auto font-mono text-[13px] wrap-anywhere whitespace-pre-wrap'

export function Conflict({ own, base, agent, draft, keepMine, takeTheirs }: ConflictProps) {
  const [was, theirs] = [draftOf(base), draftOf(agent)]
  const mine = changedFields(draft, was)
  return (
    <div class="mb-5 border-l-3 border-wait pl-3" role="alert" data-conflict>
      <p class="font-semibold">{own.conflictTitle}</p>
      <p class="text-muted">{own.conflictHelp}</p>
      <dl class="mt-2 grid gap-x-5 gap-y-1 sm:grid-cols-[auto_minmax(0,1fr)]">
        {changedFields(theirs, was).map((name) => (
          <div key={name} class="contents">
            <dt class="label pt-0.5">{own.fields[name]}</dt>
            <dd class="min-w-0">
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long value is scrolled with the keyboard, too. */}
              <pre class={VALUE_CLASSES} tabIndex={0}>
                {visibleText(String(theirs[name])) || own.noText}
              </pre>
              {mine.includes(name) && <span class="text-wait">{own.conflictSame}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <div class="mt-3 flex flex-wrap gap-2">
        <Button onClick={keepMine}>{own.keepMine}</Button>
        <Button look="danger" onClick={takeTheirs}>
          {own.takeTheirs}
        </Button>
      </div>
    </div>
  )
}
