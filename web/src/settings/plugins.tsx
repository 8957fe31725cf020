/** The part Plugins of Settings: what there is, and the review of a plugin before it is approved. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Dot, Section, type Tone } from '../components.tsx'
import { visibleText } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { PLUGIN_TEXTS } from '../texts/settings/plugins.ts'
import { useFetched } from '../use-fetched.ts'
import { FormError, TextField, useAction } from './form.tsx'
import { Confirm, Entry, EntryList, Path } from './frame.tsx'
import { commonTexts, type PartProps } from './parts.ts'
import { PluginReview } from './plugin-review.tsx'

type Plugin = CommandOutput<'plugins list'>['items'][number]

export function Plugins(props: PartProps) {
  const { page, language } = props
  const own = PLUGIN_TEXTS[language]
  const fetched = useFetched(page, '', () => readCommand('plugins list'))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const { items } = fetched.data
  return (
    <div class="flex flex-col gap-6">
      <p class="max-w-2xl text-muted">{own.intro}</p>
      <Section title={own.list}>
        <EntryList label={own.list} empty={own.empty}>
          {items.map((plugin) => (
            <PluginEntry key={plugin.source} {...props} plugin={plugin} />
          ))}
        </EntryList>
      </Section>
      <Section title={commonTexts(props).add}>
        <AddPlugin {...props} />
      </Section>
    </div>
  )
}

const TONES: Readonly<Record<Plugin['state'], Tone>> = {
  ...{ loaded: 'live', approved: 'other', unapproved: 'wait', changed: 'wait', failed: 'fault' },
}

function PluginEntry({ plugin, ...props }: PartProps & { readonly plugin: Plugin }) {
  const { page, language } = props
  const [own, common] = [PLUGIN_TEXTS[language], commonTexts(props)]
  const [open, setOpen] = useState<'review' | 'remove' | null>(null)
  const action = useAction(page, language)
  const { name, source, version, trust, state, why } = plugin
  const needsApproval = state === 'unapproved' || state === 'changed'
  const buttons = (
    <>
      <Button look={needsApproval ? 'main' : 'plain'} onClick={() => setOpen('review')}>
        {needsApproval ? own.review : own.show}
      </Button>
      <Button busy={action.busy} onClick={() => setOpen('remove')}>
        {common.remove}
      </Button>
    </>
  )
  return (
    <Entry name={name} buttons={buttons}>
      <p class="flex flex-wrap items-baseline gap-x-2">
        <Dot tone={TONES[state]} />
        <span class="font-mono font-medium wrap-anywhere">{visibleText(name)}</span>
        <span class="label">
          {[own.states[state], ...(version === null ? [] : [own.version(visibleText(version))])].join(' · ')}
        </span>
      </p>
      <p class="label">
        <Path>{source}</Path>
        {trust !== null && ` · ${own.trusts[trust]}`}
      </p>
      {why !== null && state === 'failed' && <p class="text-fault wrap-anywhere">{visibleText(why)}</p>}
      <FormError error={action.error} />
      {open === 'review' && <PluginReview {...props} source={name} onClose={() => setOpen(null)} />}
      {open === 'remove' && (
        <Confirm
          {...props}
          title={own.removeTitle(visibleText(name))}
          yes={common.remove}
          busy={action.busy}
          onClose={() => setOpen(null)}
          onYes={() => {
            setOpen(null)
            void action.run('plugins remove', { name }, own.removed(visibleText(name)))
          }}
        >
          <p>{own.removeHelp}</p>
        </Confirm>
      )}
    </Entry>
  )
}

function AddPlugin(props: PartProps) {
  const own = PLUGIN_TEXTS[props.language]
  const [source, setSource] = useState('')
  const [reviewed, setReviewed] = useState<string | null>(null)
  return (
    <Card class="px-4 py-4">
      <form
        class="flex max-w-2xl flex-col items-start gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (source.trim() !== '') setReviewed(source.trim())
        }}
      >
        <div class="w-full">
          <TextField
            label={own.source}
            help={own.sourceHelp}
            value={source}
            placeholder="./plugins/weather"
            isMono
            onChange={setSource}
          />
        </div>
        <Button type="submit">{own.look}</Button>
      </form>
      {reviewed !== null && (
        <PluginReview
          {...props}
          source={reviewed}
          onClose={(isDone) => {
            setReviewed(null)
            if (isDone) setSource('')
          }}
        />
      )}
    </Card>
  )
}
