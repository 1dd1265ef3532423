//! How alike two vectors are: what embeddings of texts are compared by.

/// The cosine of the angle between two vectors, from -1 to 1; `None` when they differ in length, or one has no direction.
pub fn cosine(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() != right.len() {
        return None;
    }
    // Scaled first: squares of large components would be infinite, those of small ones zero.
    let scaled = |vector: &[f64]| {
        let largest = vector.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
        let is_direction = largest > 0.0 && vector.iter().all(|it| it.is_finite());
        is_direction.then(|| vector.iter().map(|it| it / largest).collect::<Vec<f64>>())
    };
    let (left, right) = (scaled(left)?, scaled(right)?);
    let product = |left: &[f64], right: &[f64]| left.iter().zip(right).map(|(left, right)| left * right).sum::<f64>();
    let cosine = product(&left, &right) / (product(&left, &left).sqrt() * product(&right, &right).sqrt());
    Some(cosine.clamp(-1.0, 1.0))
}
