/** Header: kernel, state, connection, buttons. */

import type { Home } from '../home.ts'
import { Button, Dot, Mark, type Tone, toneOf } from '../parts.tsx'
import type { Scene } from './now.tsx'

interface TopProps {
  readonly scene: Scene
  readonly home: Home
  readonly state: string
  switchLanguage(): void
}

const CONNECTIONS: Readonly<Record<string, Tone>> = { live: 'live', connecting: 'other', lost: 'fault' }

export function Top({ scene: { words }, home, state, switchLanguage }: TopProps) {
  const { view } = home
  const button = (command: string, label: string) =>
    view.commands.has(command) && (
      <Button key={command} busy={view.busy.has(command)} onClick={() => void home.act(command)}>
        {label}
      </Button>
    )
  return (
    <header class="flex flex-wrap items-center gap-x-6 gap-y-3 py-5">
      <div class="flex items-center gap-3">
        <Mark alive={state === 'running' && view.connection === 'live'} />
        <h1 class="text-lg font-semibold">Tireless</h1>
        <span class="font-mono text-muted">{view.status?.kernel.id}</span>
        <span class="flex items-center gap-2" data-state={state}>
          <Dot tone={toneOf(state)} />
          {words.states[state] ?? state}
        </span>
      </div>
      <div class="ml-auto flex flex-wrap items-center gap-x-4 gap-y-2">
        <span class="label flex items-center gap-2" role="status" data-connection={view.connection}>
          <Dot tone={CONNECTIONS[view.connection] ?? 'other'} breathing={view.connection !== 'live'} />
          {words[view.connection]}
        </span>
        {button('cycle now', words.cycleNow)}
        {state === 'paused' ? button('resume', words.resume) : button('pause', words.pause)}
        <button
          type="button"
          class="cursor-pointer text-muted hover:text-ink"
          aria-label={words.switchLanguage}
          onClick={switchLanguage}
        >
          {words.language}
        </button>
      </div>
      {view.complaint !== null && (
        <p class="w-full text-fault" role="alert">
          {view.complaint}
        </p>
      )}
    </header>
  )
}
