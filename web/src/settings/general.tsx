/** The part General of Settings: the kernel's switches, and what is installed where. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Dot, Section, toneOf } from '../components.tsx'
import { visibleText } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { useFetched } from '../use-fetched.ts'
import { Command } from './form.tsx'
import { Confirm, FactList, Path } from './frame.tsx'
import { commonTexts, type PartProps } from './parts.ts'

export function General(props: PartProps) {
  const own = commonTexts(props).general
  const about = useFetched(props.page, '', () => readCommand('about'))
  return (
    <div class="grid items-start gap-5 lg:grid-cols-2">
      <Section title={own.kernel}>
        <Kernel {...props} />
      </Section>
      <Section title={own.about}>
        {about.kind === 'ready' ? <About {...props} about={about.data} /> : <NotFetched {...props} state={about} />}
      </Section>
    </div>
  )
}

function Kernel(props: PartProps) {
  const { page } = props
  const own = commonTexts(props).general
  const [isStopping, setStopping] = useState(false)
  const { status, busy } = page.view
  if (!status) return null
  const { state } = status.kernel
  const isPaused = state === 'paused'
  return (
    <Card class="flex flex-col gap-3 px-4 py-3">
      <p class="flex items-baseline gap-2" data-kernel={state}>
        <Dot tone={toneOf(state)} />
        {own.states[state]}
      </p>
      <p class="text-muted">
        {own.model}:{' '}
        <a class="text-link underline underline-offset-2" href="/settings/models">
          {visibleText(status.model.id)}
        </a>
      </p>
      <div class="flex flex-wrap gap-2">
        {isPaused ? (
          <Button
            look="main"
            busy={busy.has('resume')}
            onClick={() => void page.run('resume', {}, { done: own.resumed })}
          >
            {own.resume}
          </Button>
        ) : (
          <Button busy={busy.has('pause')} onClick={() => void page.run('pause', {}, { done: own.paused })}>
            {own.pause}
          </Button>
        )}
        <Button onClick={() => setStopping(true)}>{own.stop}</Button>
      </div>
      {isStopping && (
        <Confirm
          {...props}
          title={own.stopTitle}
          yes={own.stopYes}
          busy={busy.has('stop')}
          onClose={() => setStopping(false)}
          onYes={() => {
            setStopping(false)
            void page.run('stop', {}, { done: own.stopped })
          }}
        >
          <p>{own.stopHelp}</p>
          <Command>tireless start</Command>
        </Confirm>
      )}
    </Card>
  )
}

type AboutOutput = CommandOutput<'about'>

function About({ about, ...props }: PartProps & { readonly about: AboutOutput }) {
  const { page } = props
  const own = commonTexts(props).general
  const [upgrade, setUpgrade] = useState<AboutOutput['upgrade']>(null)
  const [busy, setBusy] = useState(false)
  const check = async (): Promise<void> => {
    setBusy(true)
    const checked = await readCommand('about', { check: true }).catch((thrown) => page.reportFailure(thrown))
    setBusy(false)
    setUpgrade(checked?.upgrade ?? null)
  }
  const { version, kind, program, home, config, node } = about
  return (
    <Card class="flex flex-col gap-3 px-4 py-3">
      <FactList
        facts={[
          [own.version, `${version} · ${own.kinds[kind]}`],
          [own.home, <Path key="home">{home}</Path>],
          [own.config, config === null ? own.noConfig : <Path key="config">{config}</Path>],
          [own.program, <Path key="program">{program}</Path>],
          [own.node, node],
        ]}
      />
      {upgrade && <Upgrade {...props} upgrade={upgrade} version={version} />}
      <p>
        <Button busy={busy} onClick={() => void check()}>
          {own.checkUpgrade}
        </Button>
      </p>
    </Card>
  )
}

interface UpgradeProps extends PartProps {
  readonly upgrade: NonNullable<AboutOutput['upgrade']>
  readonly version: string
}

function Upgrade({ upgrade: { available, newer, problem }, version, ...props }: UpgradeProps) {
  const own = commonTexts(props).general
  if (available === null) return <p role="status">{own.unknownUpgrade(visibleText(problem ?? ''))}</p>
  if (!newer) return <p role="status">{own.newest(version)}</p>
  return (
    <div role="status" class="flex flex-col gap-2">
      <p>{own.newer(available)}</p>
      <Command>tireless upgrade</Command>
    </div>
  )
}
