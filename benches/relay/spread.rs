//! What many numbers say.

/// The one at this place between the least and the greatest.
pub(super) fn quantile(values: &[f64], place: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index"
    )]
    let index = (sorted.len() as f64 * place) as usize;
    sorted[index.min(sorted.len() - 1)]
}

pub(super) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}
