/** The files of a run: opened in a dialog, or downloaded. */

import { useState } from 'preact/hooks'
import type { MessageRun } from '../api-types.ts'
import { Dialog } from '../dialog.tsx'
import { DownloadLink, FileView, fileAddress, useFile } from '../file-view.tsx'
import { visibleText } from '../format.ts'
import type { Texts } from '../texts.ts'
import type { ViewContext } from '../view-context.ts'

const MAX_FILES = 20

const ROW_CLASSES = 'flex min-w-0 items-center gap-3 rounded-lg border border-line bg-surface px-3 py-2'

interface FilesProps {
  readonly context: ViewContext
  readonly run: Pick<MessageRun, 'session_id' | 'files'>
}

export function Files({ context: { texts }, run }: FilesProps) {
  const [opened, setOpened] = useState('')
  const { session_id, files } = run
  return (
    <ul class="flex flex-col gap-1.5" aria-label={texts.talk.files}>
      {files.slice(0, MAX_FILES).map((path) => (
        <li key={path} class={ROW_CLASSES} data-file={path}>
          <button
            type="button"
            class="min-w-0 cursor-pointer truncate text-left font-mono text-[13px] text-link hover:underline"
            aria-label={texts.talk.openFile(visibleText(path))}
            onClick={() => setOpened(path)}
          >
            {visibleText(path)}
          </button>
          <a
            class="label ml-auto shrink-0 underline underline-offset-2 hover:text-ink"
            href={fileAddress(session_id, path, true)}
            aria-label={texts.talk.downloadFile(visibleText(path))}
            download
          >
            {texts.talk.download}
          </a>
        </li>
      ))}
      {files.length > MAX_FILES && <li class="label">{texts.more(files.length - MAX_FILES)}</li>}
      {opened !== '' && <FileDialog texts={texts} session={session_id} path={opened} onClose={() => setOpened('')} />}
    </ul>
  )
}

interface FileDialogProps {
  readonly texts: Texts
  readonly session: string
  readonly path: string
  onClose(): void
}

function FileDialog({ texts, session, path, onClose }: FileDialogProps) {
  const file = { texts, session, path, state: useFile(session, path) }
  return (
    <Dialog title={visibleText(path)} isWide onClose={onClose}>
      <div class="mt-3 min-h-16">
        <FileView {...file} />
      </div>
      <div class="mt-4 flex items-center justify-end gap-4">
        <DownloadLink {...file} />
        <button type="button" class="cursor-pointer text-muted hover:text-ink" onClick={onClose}>
          {texts.talk.close}
        </button>
      </div>
    </Dialog>
  )
}
