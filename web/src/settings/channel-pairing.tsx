/** Pairs a chat with the owner by a code that the chat sends, or directs notices to a channel without chats. */

import { useEffect, useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { relativeTime } from '../format.ts'
import { CHANNEL_TEXTS } from '../texts/settings/channels.ts'
import { Command, FormError, useAction } from './form.tsx'
import { commonTexts, type PartProps } from './parts.ts'

interface PairingProps extends PartProps {
  readonly name: string
  onClose(): void
}

export function PairingDialog({ name, onClose, ...props }: PairingProps) {
  const { page, language } = props
  const own = CHANNEL_TEXTS[language]
  const action = useAction(page, language)
  const [pairing, setPairing] = useState<CommandOutput<'channels pair'> | null>(null)
  useEffect(() => {
    void action.run('channels pair', { name }).then((begun) => setPairing(begun ?? null))
  }, [name])
  const until = Date.parse(pairing?.expires_at ?? '')
  return (
    <Dialog title={own.pairTitle(own.names[name] ?? name)} onClose={onClose}>
      <div class="mt-2 flex flex-col gap-3">
        <FormError error={action.error} />
        {pairing?.code === null && <p role="status">{own.pairDone}</p>}
        {pairing && pairing.code !== null && (
          <>
            <p>{own.pairHelp}</p>
            <Command>{`/pair ${pairing.code}`}</Command>
            <p class="label">{own.pairUntil(relativeTime(until, Date.now() + page.view.skew, language))}</p>
          </>
        )}
      </div>
      <DialogButtons>
        <Button onClick={onClose}>{commonTexts(props).close}</Button>
      </DialogButtons>
    </Dialog>
  )
}
