/** The content of a file of a workspace: text, Markdown, a raster image; other files can only be downloaded. */

import { useEffect, useState } from 'preact/hooks'
import { Markdown } from './markdown.tsx'
import { PlainText } from './plain-text.tsx'
import type { Texts } from './texts.ts'

/** Contract: the address of the file as the server sends it: never as something that a browser executes. */
export const fileAddress = (session: string, path: string, download = false): string =>
  `/api/v1/files?${new URLSearchParams({ session, path, ...(download ? { download: '1' } : {}) })}`

type FileState =
  | { readonly kind: 'loading' | 'gone' | 'refused' | 'binary' | 'large' | 'image' }
  | { readonly kind: 'text'; readonly text: string }

export const isMarkdown = (path: string): boolean => /\.(md|markdown)$/i.test(path)

/** Contract: the file as it is when it is opened. `session`: one that works in the workspace of the file. */
export function useFile(session: string, path: string): FileState {
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
  return state
}

interface FileProps {
  readonly texts: Texts
  readonly session: string
  readonly path: string
  readonly state: FileState
}

export function FileView(props: FileProps & { readonly isSource?: boolean }) {
  return (
    <div data-file-content={props.state.kind}>
      <FileContent {...props} />
    </div>
  )
}

function FileContent({ texts, session, path, isSource = false, state }: FileProps & { readonly isSource?: boolean }) {
  if (state.kind === 'loading') return null
  if (state.kind === 'image') return <img class="max-w-full rounded-lg" src={fileAddress(session, path)} alt={path} />
  if (state.kind !== 'text') return <p class="text-muted">{texts.talk.fileStates[state.kind]}</p>
  if (isMarkdown(path) && !isSource) return <Markdown text={state.text} />
  return (
    <pre class="overflow-auto rounded-lg bg-sunken p-3 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">
      {state.text === '' ? <span class="text-muted">{texts.talk.emptyFile}</span> : <PlainText text={state.text} />}
    </pre>
  )
}

/** Only a file that the server would send. */
export function DownloadLink({ texts, session, path, state }: FileProps) {
  if (state.kind === 'loading' || state.kind === 'gone' || state.kind === 'refused') return null
  return (
    <a class="text-link underline underline-offset-2" href={fileAddress(session, path, true)} download>
      {texts.talk.download}
    </a>
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
  const { error } = (await response.json()) as { readonly error?: { readonly code: string } }
  return { kind: error && error.code !== 'not_found' ? 'refused' : 'gone' }
}
