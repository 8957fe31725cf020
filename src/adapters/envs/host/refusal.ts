/** How this env says no: a refusal names the path and what is wrong with it; an error of the system becomes one sentence. */

import { lstat } from 'node:fs/promises'
import { type Complaint, TirelessError } from '../../../domain/error.ts'

export function refused(
  path: string,
  what: string,
  more: Pick<Complaint, 'got' | 'expected' | 'fix'> = {},
): TirelessError {
  return new TirelessError('path_refused', { where: JSON.stringify(path), what, ...more })
}

export function errno(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}

const REASONS: Readonly<Record<string, string>> = {
  ELOOP: 'a symbolic link',
  ENOTDIR: 'not a folder',
  EISDIR: 'a folder, where a file is wanted',
  ENXIO: 'not a regular file',
  ENODEV: 'not a regular file',
  ENAMETOOLONG: 'a name that is too long',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'a read-only file system',
}

/** `place` is where it was tried; it is looked at again only to find better words. */
export async function explained(thrown: unknown, place: string, path: string): Promise<TirelessError> {
  if (thrown instanceof TirelessError) return thrown
  const code = errno(thrown)
  const link = code === 'ENOTDIR' && (await lstat(place).catch(() => undefined))?.isSymbolicLink()
  const reason = REASONS[link ? 'ELOOP' : (code ?? '')]
  if (reason === undefined) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return new TirelessError('tool_failed', { where: JSON.stringify(path), what: message }, { cause: thrown })
  }
  return refused(path, reason, reason === 'a symbolic link' ? { fix: 'name the real path inside the workspace' } : {})
}
