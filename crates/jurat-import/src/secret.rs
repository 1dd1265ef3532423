//! Values that must not be copied into a suite.

/// Whether a key holds a secret, by its name.
pub(crate) fn is_secret(key: &str) -> bool {
    const ENDINGS: [&str; 6] = ["apikey", "authorization", "token", "password", "secret", "credentials"];
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    ENDINGS.iter().any(|it| plain.ends_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_without_case_and_signs() {
        for key in ["apiKey", "x-api-key", "API_KEY", "Authorization", "accessToken", "db_password", "clientSecret"] {
            assert!(is_secret(key), "{key}");
        }
        for key in ["max_tokens", "temperature", "apiKeyEnvar", "keyboard"] {
            assert!(!is_secret(key), "{key}");
        }
    }
}
