/** Files of a session's workspace, to be opened or downloaded in a browser. Nothing in them is rendered or executed. */

import type { Context as HonoContext } from 'hono'
import type { CommandContext } from '../commands/lib/context.ts'
import { refuseElsewhere } from '../commands/lib/files-elsewhere.ts'
import { TirelessError } from '../domain/error.ts'
import type { HonoEnv } from './middleware.ts'

/** Images that browsers show without executing anything. SVG is not among them. */
const IMAGES: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
}
const TEXT = 'text/plain; charset=utf-8'
/** More characters than this are not sent to be shown, only to be downloaded. */
const MAX_SHOWN_BYTES = 2 * 1024 * 1024

/** Contract: `?session=ID&path=FILE`; an attachment with `download=1`, or if the file is neither text nor an image. */
export async function sendWorkspaceFile(
  c: HonoContext<HonoEnv>,
  context: Pick<CommandContext, 'clock' | 'homeId' | 'store' | 'readWorkspaceFile'>,
): Promise<Response> {
  const { session = '', path = '', download } = c.req.query()
  const { store, readWorkspaceFile } = context
  const found = await store.session(session)
  await refuseElsewhere(context, { got: path, home: found?.home, workspace: found?.workspace })
  const bytes = found && path !== '' ? await readWorkspaceFile(found.workspace, path) : undefined
  if (!bytes)
    throw new TirelessError('not_found', {
      what: found ? 'no such file in the workspace of the session' : 'no such session',
      got: found ? path : session,
    })
  const type = typeOf(path, bytes)
  const isAttachment = download === '1' || type === undefined || bytes.length > MAX_SHOWN_BYTES
  return c.body(new Uint8Array(bytes), 200, {
    'Content-Type': isAttachment ? 'application/octet-stream' : type,
    'Content-Disposition': `${isAttachment ? 'attachment' : 'inline'}; ${fileNameOf(path)}`,
    // Even if a browser took it for a document, nothing in it could run or load anything.
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  })
}

/** Contract: undefined if the file is neither text nor an image. HTML, SVG and scripts are plain text. */
function typeOf(path: string, bytes: Buffer): string | undefined {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
  const image = Object.hasOwn(IMAGES, extension) ? IMAGES[extension] : undefined
  if (image !== undefined) return image
  return isText(bytes) ? TEXT : undefined
}

function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** The name in plain letters, and in full for browsers that read it (RFC 6266). */
function fileNameOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const plain = name.replaceAll(/[^\w.-]/g, '_').replace(/^\.+/, '_')
  const full = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `filename="${plain}"; filename*=UTF-8''${full}`
}
