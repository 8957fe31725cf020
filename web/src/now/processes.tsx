/** The processes that share the store: what each does, its load, and whether it answers. */

import type { Worker } from '../api-types.ts'
import { Card, Dot, Section } from '../components.tsx'
import { oneLine, wholeDuration } from '../format.ts'
import type { ViewContext } from '../view-context.ts'

const MAX_PROCESSES = 100

/** Nothing is shown if the store belongs to one home. */
export function Processes({
  context,
  workers,
}: {
  readonly context: ViewContext
  readonly workers: readonly Worker[]
}) {
  const shared = workers.filter(({ role }) => role !== null)
  if (shared.length === 0) return null
  const { texts } = context
  return (
    <Section title={texts.processes} note={String(shared.length)}>
      <Card class="max-h-[32rem] overflow-y-auto">
        <ul class="divide-y divide-line">
          {shared.slice(0, MAX_PROCESSES).map((worker) => (
            <Process key={worker.epoch} context={context} worker={worker} />
          ))}
          {shared.length > MAX_PROCESSES && (
            <li class="label px-4 py-2">{texts.more(shared.length - MAX_PROCESSES)}</li>
          )}
        </ul>
      </Card>
    </Section>
  )
}

interface ProcessProps {
  readonly context: ViewContext
  readonly worker: Worker
}

function Process({ context, worker }: ProcessProps) {
  const { texts, language, now } = context
  const { epoch, name, host, role, leads, late, here, running, slots, since, version } = worker
  const details = [
    role === null ? '' : texts.roles[role],
    texts.runningFor(wholeDuration(now - Date.parse(since), language)),
    version === null ? '' : texts.version(oneLine(version)),
    here ? texts.showsThisPage : '',
  ]
  return (
    <li
      class="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 px-4 py-3"
      data-process={epoch}
      data-process-role={role}
      data-process-late={late}
    >
      <span class="flex h-5 items-center">
        <Dot tone={late ? 'fault' : running > 0 ? 'live' : 'other'} />
      </span>
      <div class="flex min-w-0 flex-col gap-0.5">
        <span class="flex flex-wrap items-baseline justify-between gap-x-3">
          <span class="min-w-0 font-medium wrap-anywhere">
            {oneLine(host ?? '')} <span class="label font-normal">{oneLine(name.replace(` on ${host}`, ''))}</span>
            {leads && <span class="label ml-2 font-normal text-live">{texts.leads}</span>}
          </span>
          {slots !== null && slots > 0 && <span class="label figures">{texts.load(running, slots)}</span>}
        </span>
        <span class="label">{details.filter((detail) => detail !== '').join(' · ')}</span>
        {late && <span class="text-fault">{texts.lateProcess}</span>}
      </div>
    </li>
  )
}
