/** The part Channels of Settings: what is connected, where notices go, and who may write. */

import { useState } from 'preact/hooks'
import type { CommandInput, CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Dot, Section, type Tone } from '../components.tsx'
import { count, relativeTime, visibleText } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { CHANNEL_TEXTS } from '../texts/settings/channels.ts'
import { translateError } from '../texts/settings/errors.ts'
import { useFetched } from '../use-fetched.ts'
import { AddChannel } from './add-channel.tsx'
import { PairingDialog } from './channel-pairing.tsx'
import { FormError, useAction } from './form.tsx'
import { Confirm, Entry, EntryList } from './frame.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type ChannelList = CommandOutput<'channels list'>
type Channel = ChannelList['items'][number]
type Addable = CommandInput<'channels add'>['name']

const ADDABLE: readonly Addable[] = ['lark', 'webhook']

const isAddable = (name: string): name is Addable => ADDABLE.some((each) => each === name)

export function Channels(props: PartProps) {
  const { page, language } = props
  const own = CHANNEL_TEXTS[language]
  const [isAdding, setAdding] = useState(false)
  const fetched = useFetched(page, '', () => readCommand('channels list'))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const { items, target, paired } = fetched.data
  const missing = ADDABLE.filter((name) => !items.some((channel) => channel.name === name && channel.configured))
  return (
    <div class="flex flex-col gap-6">
      <p class="max-w-2xl text-muted">{own.intro}</p>
      <Section title={own.list}>
        {target === null && <p class="mb-2 px-1 text-wait">{own.noTarget}</p>}
        <EntryList label={own.list}>
          {items.map((channel) => (
            <ChannelEntry key={channel.name} {...props} channel={channel} />
          ))}
        </EntryList>
      </Section>
      {isAdding && <AddChannel {...props} kinds={missing} onClose={() => setAdding(false)} />}
      {!isAdding && missing.length > 0 && (
        <p>
          <Button look="main" onClick={() => setAdding(true)}>
            {own.add}
          </Button>
        </p>
      )}
      {paired.length > 0 && (
        <Section title={own.paired}>
          <PairedChats {...props} paired={paired} />
        </Section>
      )}
    </div>
  )
}

interface ChannelProps extends PartProps {
  readonly channel: Channel
}

function toneOfChannel({ trouble, connection, failed, configured, bound, name }: Channel): Tone {
  if (isAddable(name) ? !configured : trouble !== null && !bound) return 'other'
  if (trouble !== null || connection?.error) return 'fault'
  return failed > 0 ? 'wait' : 'live'
}

function ChannelEntry({ channel, ...props }: ChannelProps) {
  const own = CHANNEL_TEXTS[props.language]
  const name = own.names[channel.name] ?? visibleText(channel.name)
  return (
    <Entry name={channel.name} buttons={<ChannelButtons {...props} channel={channel} />}>
      <p class="flex flex-wrap items-baseline gap-x-2">
        <Dot tone={toneOfChannel(channel)} />
        <span class="font-medium">{name}</span>
        {channel.bound && <span class="label text-live">{own.target}</span>}
      </p>
      <p class="label wrap-anywhere">{describeChannel(channel, props).join(' · ')}</p>
      {channel.last_error !== null && channel.failed > 0 && (
        <p class="text-fault wrap-anywhere">{visibleText(channel.last_error)}</p>
      )}
    </Entry>
  )
}

function describeChannel(channel: Channel, { language, page }: PartProps): readonly string[] {
  const own = CHANNEL_TEXTS[language]
  const { trouble, connection, pending, failed, last_sent_at, configured, name } = channel
  if (isAddable(name) && !configured) return [own.notConfigured]
  const when = (at: string): string => relativeTime(Date.parse(at), Date.now() + page.view.skew, language)
  return [
    ...(trouble === null
      ? failed > 0 || connection?.error
        ? []
        : [own.ready]
      : [visibleText(translateError(trouble, language))]),
    ...(connection ? [own.connections[connection.state]] : []),
    ...(connection?.error ? [visibleText(connection.error)] : []),
    ...(connection?.next_at ? [own.again(when(connection.next_at))] : []),
    ...(pending > 0 ? [own.pending(count(pending, language))] : []),
    ...(failed > 0 ? [own.failedCount(count(failed, language))] : []),
    ...(last_sent_at === null ? [] : [own.lastSent(when(last_sent_at))]),
  ]
}

function ChannelButtons({ channel, ...props }: ChannelProps) {
  const { page, language } = props
  const [own, common] = [CHANNEL_TEXTS[language], commonTexts(props)]
  const [open, setOpen] = useState<'pair' | 'remove' | null>(null)
  const [test, remove] = [useAction(page, language), useAction(page, language)]
  const { name, configured, trouble, receives, bound } = channel
  const label = own.names[name] ?? name
  if (isAddable(name) && !configured) return null
  const sendTest = async (): Promise<void> => {
    const sent = await test.run('channels test', { name }, ({ delivered }) => (delivered ? own.sentTest(label) : ''))
    if (sent?.error) test.fail(own.testFailed(translateError(sent.error, language)))
  }
  return (
    <div class="flex max-w-md flex-col items-start gap-2 sm:items-end">
      <div class="flex flex-wrap gap-2">
        <Button busy={test.busy} onClick={() => void sendTest()}>
          {common.test}
        </Button>
        {(receives || !bound) && trouble === null && (
          <Button onClick={() => setOpen('pair')}>{receives ? own.pairWith : own.pair}</Button>
        )}
        {isAddable(name) && (
          <Button busy={remove.busy} onClick={() => setOpen('remove')}>
            {common.remove}
          </Button>
        )}
      </div>
      <FormError error={test.error ?? remove.error} />
      {open === 'pair' && <PairingDialog {...props} name={name} onClose={() => setOpen(null)} />}
      {open === 'remove' && isAddable(name) && (
        <Confirm
          {...props}
          title={own.removeTitle(label)}
          yes={common.remove}
          busy={remove.busy}
          onClose={() => setOpen(null)}
          onYes={() => {
            setOpen(null)
            void remove.run('channels remove', { name }, own.removed(label))
          }}
        >
          <p>{own.removeHelp}</p>
        </Confirm>
      )}
    </div>
  )
}

function PairedChats({ paired, ...props }: PartProps & { readonly paired: ChannelList['paired'] }) {
  const { page, language } = props
  const own = CHANNEL_TEXTS[language]
  const [asked, setAsked] = useState<ChannelList['paired'][number] | null>(null)
  const action = useAction(page, language)
  const unpair = async ({ channel, chat_id }: ChannelList['paired'][number]): Promise<void> => {
    setAsked(null)
    await action.run('channels unpair', { name: channel, ...(chat_id === null ? {} : { chat: chat_id }) }, own.unpaired)
  }
  return (
    <>
      <FormError error={action.error} />
      <EntryList label={own.paired}>
        {paired.map((chat) => (
          <Entry
            key={`${chat.channel} ${chat.chat_id}`}
            name={chat.chat_id ?? chat.channel}
            buttons={
              <Button busy={action.busy} onClick={() => setAsked(chat)}>
                {own.unpair}
              </Button>
            }
          >
            <p class="wrap-anywhere">
              {own.names[chat.channel] ?? visibleText(chat.channel)}{' '}
              <span class="font-mono">{chat.chat_id === null ? own.ownChat : visibleText(chat.chat_id)}</span>
            </p>
            <p class="label">
              {own.pairedSince(relativeTime(Date.parse(chat.paired_at), Date.now() + page.view.skew, language))}
            </p>
          </Entry>
        ))}
      </EntryList>
      {asked && (
        <Confirm
          {...props}
          title={own.unpairTitle}
          yes={own.unpair}
          busy={action.busy}
          onClose={() => setAsked(null)}
          onYes={() => void unpair(asked)}
        >
          <p>{own.unpairHelp}</p>
        </Confirm>
      )}
    </>
  )
}
