/** What commands can do about the installation of the program: its service at login, and its versions. */

import type { PeopleText } from '../../domain/language.ts'

export interface InstallationControl {
  readonly service: ServiceControl
  /** Contract: the running version; `program`: its folder. */
  describe(): { readonly version: string; readonly kind: 'checkout' | 'package'; readonly program: string }
  /**
   * Contract: what is installed, and what `from` (a tarball or a version; undefined: the newest) would install. All
   * but `service` and `describe` throw `usage` in a checkout.
   */
  check(from: string | undefined): Promise<AvailableVersion>
  /** Contract: installs another version; a throw leaves the present one working. `backups`: folder for the backup. */
  upgrade(
    from: string | undefined,
    backups: string | undefined,
    tell: (text: PeopleText) => void,
  ): Promise<UpgradeReport>
  /** Contract: goes back to the version before the last upgrade. */
  undo(tell: (text: PeopleText) => void): Promise<UndoReport>
}

interface AvailableVersion {
  readonly installed: string
  /** Null: unknown, because of `problem`. */
  readonly available: string | null
  readonly newer: boolean
  /** The version that `upgrade --undo` selects. */
  readonly previous: string | null
  readonly folder: string
  readonly problem: string | null
}

interface UpgradeReport {
  readonly from: string
  readonly to: string
  readonly backup: string | null
  readonly notes: readonly PeopleText[]
}

interface UndoReport {
  readonly from: string
  readonly to: string
  /** The backup that replaced the home; null: the home is as it was. */
  readonly restored: string | null
  readonly notes: readonly PeopleText[]
}

/** The service that runs the kernel of this home at login. */
export interface ServiceControl {
  /** Contract: a second call updates the definition; `notes` say what is left to do. */
  install(): Promise<ServiceReport & { readonly change: 'created' | 'updated' | 'unchanged' }>
  /** Contract: removes the definition only; the home stays. */
  uninstall(): Promise<ServiceReport & { readonly removed: boolean }>
  status(): Promise<ServiceReport>
}

export interface ServiceReport {
  readonly name: string
  readonly file: string
  readonly installed: boolean
  /** Null: the service manager does not answer. */
  readonly enabled: boolean | null
  readonly running: boolean | null
  /** Address of the page while the kernel runs. */
  readonly address: string | null
  readonly notes: readonly PeopleText[]
}

/** Contract: notes for programs (English), and their Chinese forms for people. */
export const notesOutput = (notes: readonly PeopleText[]): { notes: string[]; notes_zh: string[] } => ({
  notes: notes.map(({ text }) => text),
  notes_zh: notes.map(({ text, zh = text }) => zh),
})
