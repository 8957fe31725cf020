/** The errors of file operations: a refusal names the path and the reason; system errors become a short message. */

import { lstat } from 'node:fs/promises'
import { describeDiskError, type ErrorParts, TirelessError } from '../../../domain/error.ts'

export function pathRefused(
  path: string,
  what: string,
  more: Pick<ErrorParts, 'got' | 'expected' | 'fix'> = {},
): TirelessError {
  return new TirelessError('path_refused', { where: JSON.stringify(path), what, ...more })
}

export function errno(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}

const REASONS: Readonly<Record<string, string>> = {
  ELOOP: 'a symbolic link',
  ENOTDIR: 'not a folder',
  EISDIR: 'a folder, but a file is needed',
  ENXIO: 'not a regular file',
  ENODEV: 'not a regular file',
  ENAMETOOLONG: 'a name that is too long',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'a read-only file system',
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  EMFILE: 'too many files are open',
  EIO: 'the disk reports an error',
  ETXTBSY: 'a program is running from it',
  EBUSY: 'it is in use',
  ENOENT: 'it is gone',
}

/** Contract: why a file operation failed, in a few words. */
export function shortReason(thrown: unknown): string {
  if (thrown instanceof TirelessError) return thrown.problem
  const code = errno(thrown) ?? ''
  return REASONS[code] ?? WRITE_REASONS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown))
}

/** `place`: the path of the failed system call. It is read again only to find out whether it is a symbolic link. */
export async function describeSystemError(thrown: unknown, place: string, path: string): Promise<TirelessError> {
  if (thrown instanceof TirelessError) return thrown
  const code = errno(thrown)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new TirelessError(
      'not_written',
      {
        where: JSON.stringify(path),
        what: 'the file was not written; nothing in it changed',
        ...describeDiskError(thrown),
      },
      { cause: thrown },
    )
  const link = code === 'ENOTDIR' && (await lstat(place).catch(() => undefined))?.isSymbolicLink()
  const cause = link ? 'ELOOP' : (code ?? '')
  const reason = REASONS[cause]
  if (reason === undefined) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return new TirelessError('tool_failed', { where: JSON.stringify(path), what: message }, { cause: thrown })
  }
  return pathRefused(path, reason, cause === 'ELOOP' ? { fix: 'name the real path inside the workspace' } : {})
}
