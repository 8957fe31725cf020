/** Recently finished dispatches with their results. */

import { clockTime } from '../format.ts'
import { Card, Chevron, Dot, Empty, Section, toneOf } from '../parts.tsx'
import type { Dispatch } from '../shapes.ts'
import type { Scene } from './now.tsx'

export function Finished({ scene, recent }: { readonly scene: Scene; readonly recent: readonly Dispatch[] }) {
  const { words, language, now } = scene
  return (
    <Section title={words.finished}>
      <Card>
        {recent.length === 0 && <Empty>{words.nothingFinished}</Empty>}
        <ul class="divide-y divide-line">
          {recent.map(({ dispatch_id, agent_id, title, status, result, error, updated_at }) => (
            <li key={dispatch_id} data-finished={dispatch_id}>
              <details class="group">
                <summary class="grid cursor-pointer list-none grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-3 px-4 py-2.5 hover:bg-sunken sm:grid-cols-[auto_8rem_minmax(0,1fr)_auto]">
                  <Dot tone={toneOf(status)} />
                  <span class="truncate font-medium">{agent_id}</span>
                  <span class="col-span-2 col-start-2 row-start-2 truncate text-muted sm:col-span-1 sm:col-start-3 sm:row-start-1">
                    {title}
                  </span>
                  <span class="label figures flex items-center gap-2">
                    {status === 'done' ? '' : `${words.statuses[status] ?? status} · `}
                    {clockTime(Date.parse(updated_at), now, language)}
                    <Chevron />
                  </span>
                </summary>
                <p class={`px-4 pb-4 pl-9 break-words whitespace-pre-wrap ${error === null ? '' : 'text-fault'}`}>
                  {error ?? result ?? words.noAnswer}
                </p>
              </details>
            </li>
          ))}
        </ul>
      </Card>
    </Section>
  )
}
