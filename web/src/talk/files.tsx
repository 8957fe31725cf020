/** The files of a run: opened in a dialog, or downloaded. */

import { useEffect, useState } from 'preact/hooks'
import type { MessageRun } from '../api-types.ts'
import { Dialog } from '../dialog.tsx'
import { visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import type { Texts } from '../texts.ts'
import type { ViewContext } from '../view-context.ts'

const MAX_FILES = 20

const fileAddress = (session: string, path: string, download = false): string =>
  `/api/v1/files?${new URLSearchParams({ session, path, ...(download ? { download: '1' } : {}) })}`

const ROW_CLASSES = 'flex min-w-0 items-center gap-3 rounded-lg border border-line bg-surface px-3 py-2'

export function Files({ context: { texts }, run }: { readonly context: ViewContext; readonly run: MessageRun }) {
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

type FileState =
  | { readonly kind: 'loading' | 'gone' | 'binary' | 'image' }
  | { readonly kind: 'text'; readonly text: string }

function FileDialog({ texts, session, path, onClose }: FileDialogProps) {
  const [state, setState] = useState<FileState>({ kind: 'loading' })
  useEffect(() => {
    void readFile(session, path).then(setState, () => setState({ kind: 'gone' }))
  }, [session, path])
  return (
    <Dialog title={visibleText(path)} isWide onClose={onClose}>
      <div class="mt-3 min-h-16" data-file-content>
        <FileContent texts={texts} session={session} path={path} state={state} />
      </div>
      <div class="mt-4 flex items-center justify-end gap-4">
        <a class="text-link underline underline-offset-2" href={fileAddress(session, path, true)} download>
          {texts.talk.download}
        </a>
        <button type="button" class="cursor-pointer text-muted hover:text-ink" onClick={onClose}>
          {texts.talk.close}
        </button>
      </div>
    </Dialog>
  )
}

function FileContent({
  texts,
  session,
  path,
  state,
}: Omit<FileDialogProps, 'onClose'> & { readonly state: FileState }) {
  if (state.kind === 'gone') return <p class="text-muted">{texts.talk.fileGone}</p>
  if (state.kind === 'binary') return <p class="text-muted">{texts.talk.notShown}</p>
  if (state.kind === 'image') return <img class="max-w-full rounded-lg" src={fileAddress(session, path)} alt={path} />
  if (state.kind !== 'text') return null
  if (/\.(md|markdown)$/i.test(path)) return <Markdown text={state.text} />
  return (
    <pre class="overflow-auto rounded-lg bg-sunken p-3 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
      {visibleText(state.text)}
    </pre>
  )
}

async function readFile(session: string, path: string): Promise<FileState> {
  const response = await fetch(fileAddress(session, path))
  if (!response.ok) return { kind: 'gone' }
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('image/')) return { kind: 'image' }
  return type.startsWith('text/plain') ? { kind: 'text', text: await response.text() } : { kind: 'binary' }
}
