/** The part Backup of Settings: makes a copy of the home, lists the copies, and says how one is restored. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Empty, Section } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { count, relativeTime, visibleText } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { BACKUP_TEXTS } from '../texts/settings/backup.ts'
import { useFetched } from '../use-fetched.ts'
import { CheckField, Command, TextField, useAction } from './form.tsx'
import { Entry, EntryList, Path } from './frame.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type BackupList = CommandOutput<'backups list'>

export function Backup(props: PartProps) {
  const { page, language } = props
  const own = BACKUP_TEXTS[language]
  const [folder, setFolder] = useState<string | undefined>()
  const fetched = useFetched(page, folder ?? '', async () => ({
    about: await readCommand('about'),
    list: await readCommand('backups list', folder === undefined ? {} : { in: folder }),
  }))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const { about, list } = fetched.data
  return (
    <div class="flex flex-col gap-6">
      <p class="max-w-2xl text-muted">{own.intro}</p>
      <Section title={own.make}>
        <MakeBackup {...props} folder={about.backups} onMade={(dir) => setFolder(parentOf(dir))} />
      </Section>
      <Section title={own.list} note={<Path>{list.folder}</Path>}>
        <Backups {...props} list={list} home={about.home} />
      </Section>
    </div>
  )
}

const parentOf = (dir: string): string => dir.replace(/[/\\][^/\\]*$/, '') || '/'

/** A name that sorts by time and is free: a backup takes longer than a second. */
function proposedName(now: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-')
  return `${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`
}

interface MakeProps extends PartProps {
  readonly folder: string
  onMade(dir: string): void
}

function MakeBackup({ folder, onMade, ...props }: MakeProps) {
  const { page, language } = props
  const own = BACKUP_TEXTS[language]
  const [dir, setDir] = useState(`${folder}/${proposedName(new Date())}`)
  const [secrets, setSecrets] = useState(false)
  const [skipped, setSkipped] = useState<readonly string[]>([])
  const action = useAction(page, language)
  const make = async (): Promise<void> => {
    const made = await action.run('backup', { dir: dir.trim(), secrets }, ({ bytes }) =>
      own.made(megabytes(bytes, language)),
    )
    if (!made) return
    setSkipped(made.skipped)
    setDir(`${parentOf(made.dir)}/${proposedName(new Date())}`)
    onMade(made.dir)
  }
  return (
    <Card class="px-4 py-4">
      <form
        class="flex max-w-2xl flex-col items-start gap-4"
        aria-label={own.make}
        onSubmit={(event) => {
          event.preventDefault()
          if (!action.busy) void make()
        }}
      >
        <div class="w-full">
          <TextField
            label={own.folder}
            help={own.folderHelp}
            error={action.error ?? undefined}
            value={dir}
            isMono
            onChange={setDir}
          />
        </div>
        <div>
          <CheckField label={own.secrets} isChecked={secrets} onChange={setSecrets} />
          <p class="label pl-6">{own.secretsHelp}</p>
        </div>
        <p class="text-muted">{own.private}</p>
        <Button look="main" type="submit" busy={action.busy}>
          {action.busy ? own.making : own.now}
        </Button>
        {skipped.length > 0 && (
          <div class="label">
            {own.skipped}:
            <ul class="list-disc pl-5">
              {skipped.map((each) => (
                <li key={each} class="wrap-anywhere">
                  {visibleText(each)}
                </li>
              ))}
            </ul>
          </div>
        )}
      </form>
    </Card>
  )
}

const megabytes = (bytes: number, language: PartProps['language']): string =>
  `${new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { maximumFractionDigits: 1 }).format(bytes / 1e6)} MB`

interface BackupsProps extends PartProps {
  readonly list: BackupList
  readonly home: string
}

function Backups({ list: { items }, home, ...props }: BackupsProps) {
  const { page, language } = props
  const own = BACKUP_TEXTS[language]
  const [restored, setRestored] = useState<string | null>(null)
  if (items.length === 0)
    return (
      <Card>
        <Empty>{own.empty}</Empty>
      </Card>
    )
  return (
    <>
      <EntryList label={own.list}>
        {items.map((backup) => (
          <Entry
            key={backup.dir}
            name={backup.dir}
            buttons={<Button onClick={() => setRestored(backup.dir)}>{own.restore}</Button>}
          >
            <Path>{backup.dir}</Path>
            <p class="label wrap-anywhere">
              {[
                relativeTime(Date.parse(backup.created_at), Date.now() + page.view.skew, language),
                own.files(count(backup.files, language)),
                megabytes(backup.bytes, language),
                backup.secrets ? own.withSecrets : own.withoutSecrets,
                ...(backup.home === home ? [] : [own.otherHome(visibleText(backup.home))]),
              ].join(' · ')}
            </p>
          </Entry>
        ))}
      </EntryList>
      {restored !== null && (
        <Dialog title={own.restoreTitle} isWide onClose={() => setRestored(null)}>
          <div class="mt-2 flex flex-col gap-3">
            <p>{own.restoreHelp}</p>
            <Command>{`tireless stop\ntireless restore ${quoted(restored)}\ntireless start`}</Command>
            <p class="text-muted">{own.restoreAfter}</p>
          </div>
          <DialogButtons>
            <Button onClick={() => setRestored(null)}>{commonTexts(props).close}</Button>
          </DialogButtons>
        </Dialog>
      )}
    </>
  )
}

/** As a shell needs it: a folder may have any name. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${visibleText(path).replaceAll("'", `'\\''`)}'`
