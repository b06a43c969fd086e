import { createTheme, defaultVariantColorsResolver, Menu, Portal } from '@mantine/core'

/** One accent, quiet greys, and a grid of four pixels. */
export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 9, dark: 5 },
  autoContrast: true,
  // The text on the accent is chosen for the shade of the light theme, and has to be for that of the theme on show.
  variantColorResolver(input) {
    const isAccent =
      input.variant === 'filled' && (input.color ?? input.theme.primaryColor) === input.theme.primaryColor
    const colors = defaultVariantColorsResolver(input)
    return isAccent ? { ...colors, color: 'var(--mantine-primary-color-contrast)' } : colors
  },
  luminanceThreshold: 0.35,
  defaultRadius: 'md',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  components: {
    // Among the landmarks of the page, as all else is.
    Portal: Portal.extend({ defaultProps: { target: '#popups' } }),
    // The first choice has the focus; a menu has nothing in it but choices.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
  },
  fontSizes: { xs: '12px', sm: '14px', md: '14px', lg: '16px', xl: '20px' },
})
