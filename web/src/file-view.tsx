/** The content of a file of a workspace: text, Markdown, a raster image; other files can only be downloaded. */

import { useEffect, useState } from 'preact/hooks'
import { visibleText } from './format.ts'
import { Markdown } from './markdown.tsx'
import type { Texts } from './texts.ts'

/** Contract: the address of the file as the server sends it: never as something that a browser executes. */
export const fileAddress = (session: string, path: string, download = false): string =>
  `/api/v1/files?${new URLSearchParams({ session, path, ...(download ? { download: '1' } : {}) })}`

interface FileViewProps {
  readonly texts: Texts
  /** A session that works in the workspace of the file. */
  readonly session: string
  readonly path: string
  /** Markdown as it is written. */
  readonly isSource?: boolean
}

type FileState =
  | { readonly kind: 'loading' | 'gone' | 'binary' | 'large' | 'image' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'text'; readonly text: string }

export const isMarkdown = (path: string): boolean => /\.(md|markdown)$/i.test(path)

/** More characters would keep the browser busy; the whole file can be downloaded. */
const MAX_CHARS = 300_000

export function FileView({ texts, session, path, isSource = false }: FileViewProps) {
  const [state, setState] = useState<FileState>({ kind: 'loading' })
  useEffect(() => {
    let isCurrent = true
    const show = (read: FileState): void => {
      if (isCurrent) setState(read)
    }
    setState({ kind: 'loading' })
    void readFile(session, path).then(show, () => show({ kind: 'gone' }))
    return () => {
      isCurrent = false
    }
  }, [session, path])
  return (
    <div data-file-content={state.kind}>
      <FileContent {...{ texts, session, path, isSource, state }} />
    </div>
  )
}

function FileContent({ texts, session, path, isSource = false, state }: FileViewProps & { readonly state: FileState }) {
  if (state.kind === 'loading') return null
  if (state.kind === 'gone') return <p class="text-muted">{texts.talk.fileGone}</p>
  if (state.kind === 'binary') return <p class="text-muted">{texts.talk.notShown}</p>
  if (state.kind === 'large') return <p class="text-muted">{texts.talk.tooLarge}</p>
  if (state.kind === 'refused') return <p class="text-muted wrap-anywhere">{visibleText(state.reason)}</p>
  if (state.kind !== 'text') return <img class="max-w-full rounded-lg" src={fileAddress(session, path)} alt={path} />
  if (isMarkdown(path) && !isSource) return <Markdown text={state.text} />
  const shown = visibleText(state.text.slice(0, MAX_CHARS))
  return (
    <>
      <pre class="overflow-auto rounded-lg bg-sunken p-3 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
        {shown === '' ? <span class="text-muted">{texts.talk.emptyFile}</span> : shown}
      </pre>
      {state.text.length > MAX_CHARS && <p class="mt-2 text-muted">{texts.talk.cutFile}</p>}
    </>
  )
}

async function readFile(session: string, path: string): Promise<FileState> {
  const response = await fetch(fileAddress(session, path))
  if (!response.ok) return failureOf(response)
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('image/')) return { kind: 'image' }
  if (type.startsWith('text/plain')) return { kind: 'text', text: await response.text() }
  await response.body?.cancel()
  return { kind: Number(response.headers.get('content-length')) > MAX_SHOWN_BYTES ? 'large' : 'binary' }
}

/** The server sends larger files only to be downloaded. */
const MAX_SHOWN_BYTES = 2 * 1024 * 1024

async function failureOf(response: Response): Promise<FileState> {
  const { error } = (await response.json()) as { readonly error?: { readonly code: string; readonly message: string } }
  return error && error.code !== 'not_found' ? { kind: 'refused', reason: error.message } : { kind: 'gone' }
}
