/** Shows what a plugin may do, with the hash of its files; approves exactly these files. */

import { useEffect, useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import { PLUGIN_TEXTS } from '../texts/settings/plugins.ts'
import { FormError, useAction } from './form.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type Shown = CommandOutput<'plugins show'>

interface ReviewProps extends PartProps {
  /** Name of a configured plugin, or what is to be added. */
  readonly source: string
  onClose(isDone?: boolean): void
}

export function PluginReview({ source, onClose, ...props }: ReviewProps) {
  const { page, language } = props
  const own = PLUGIN_TEXTS[language]
  const action = useAction(page, language)
  const [shown, setShown] = useState<Shown | null>(null)
  useEffect(() => {
    void action.read('plugins show', { source }).then((plugin) => setShown(plugin ?? null))
  }, [source])
  const approve = async ({ name, digest, configured }: Shown): Promise<void> => {
    const agreed = { yes: true, digest: digest ?? '' }
    const done = configured
      ? await action.run('plugins approve', { name, ...agreed }, own.approved(visibleText(name)))
      : await action.run('plugins add', { source, ...agreed }, own.added(visibleText(name)))
    if (done) onClose(true)
  }
  return (
    <Dialog title={own.dialogTitle(visibleText(shown?.name ?? source))} isWide onClose={() => onClose()}>
      <div class="mt-3 flex flex-col gap-3">
        {shown && <Abilities {...props} shown={shown} />}
        <FormError error={action.error} />
      </div>
      <DialogButtons>
        <Button onClick={() => onClose()}>
          {shown && isApproved(shown) ? commonTexts(props).close : props.texts.cancel}
        </Button>
        {shown && !isApproved(shown) && shown.digest !== null && (
          <Button look="main" busy={action.busy} onClick={() => void approve(shown)}>
            {shown.configured ? own.approve : own.add}
          </Button>
        )}
      </DialogButtons>
    </Dialog>
  )
}

const isApproved = ({ state, configured }: Shown): boolean => configured && (state === 'loaded' || state === 'approved')

/** The first line of the words is a title, which the dialog has already. */
function Abilities({ shown, ...props }: PartProps & { readonly shown: Shown }) {
  const own = PLUGIN_TEXTS[props.language]
  const [, ...lines] = (props.language === 'zh' ? shown.words_zh : shown.words).split('\n')
  return (
    <>
      <ul class="list-disc pl-5">
        {lines.map((line) => (
          <li key={line} class="wrap-anywhere">
            {visibleText(line.trim())}
          </li>
        ))}
      </ul>
      <div>
        <p class="label">{own.hash}</p>
        <p class="font-mono text-[13px] wrap-anywhere" data-digest>
          {shown.digest}
        </p>
        <p class="label">{own.hashHelp}</p>
      </div>
      {!isApproved(shown) && <p class="text-muted">{commonTexts(props).runsPrograms}</p>}
    </>
  )
}
