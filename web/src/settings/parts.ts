/** What every part of Settings gets. */

import type { PlaceProps } from '../shell/place.tsx'
import { SETTINGS_TEXTS } from '../texts/settings/common.ts'

export type PartProps = Pick<PlaceProps, 'page' | 'texts' | 'language' | 'query'>

export const commonTexts = ({ language }: Pick<PlaceProps, 'language'>) => SETTINGS_TEXTS[language]
